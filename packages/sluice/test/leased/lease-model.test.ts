import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { type ModelOptions, searchLeases } from './lease-model.js'

const SHORT: readonly ModelOptions[] = [
  { nodes: 2, capacity: 2, stepsPerUnit: 1, mostUnderway: 1, overtaking: true },
  { nodes: 2, capacity: 2, stepsPerUnit: 2, mostUnderway: 1, overtaking: true },
  { nodes: 2, capacity: 3, stepsPerUnit: 1, mostUnderway: 1 },
  { nodes: 4, capacity: 2, stepsPerUnit: 2, mostUnderway: 1, overtaking: true },
  { nodes: 3, capacity: 3, stepsPerUnit: 1, mostUnderway: 1 },
]
const LONG: readonly ModelOptions[] = [
  { nodes: 2, capacity: 4, stepsPerUnit: 1, mostUnderway: 1 },
  { nodes: 2, capacity: 3, stepsPerUnit: 1, mostUnderway: 1, overtaking: true },
  { nodes: 2, capacity: 2, stepsPerUnit: 1 },
  { nodes: 2, capacity: 2, stepsPerUnit: 2 },
  { nodes: 2, capacity: 4, stepsPerUnit: 2, mostUnderway: 1, overtaking: true },
  { nodes: 3, capacity: 3, stepsPerUnit: 1, mostUnderway: 1, overtaking: true },
  { nodes: 4, capacity: 3, stepsPerUnit: 2, mostUnderway: 1 },
]

describe('every order of events of the lease protocol', () => {
  for (const options of isLong ? [...SHORT, ...LONG] : SHORT)
    it(`keeps the law: ${JSON.stringify(options)}`, { timeout: 600_000 }, () => {
      const { states, broken } = searchLeases(options)
      expect(broken).toBeUndefined()
      expect(states).toBeGreaterThan(1_000)
    })

  const small = { nodes: 2, capacity: 2, stepsPerUnit: 2 }
  for (const mistake of ['forgets early', 'counts copies', 'refills beside held units', 'slow node'] as const)
    it(`is broken if a store or a node makes this mistake: ${mistake}, and the search says how`, {
      timeout: 60_000,
    }, () => {
      const { broken = [] } = searchLeases({ ...small, mostUnderway: 1, mistake })
      expect(broken.join('\n')).toMatch(/asks for|decided directly/)
    })
})
