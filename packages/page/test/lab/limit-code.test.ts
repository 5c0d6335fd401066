import * as sluice from 'sluice'
import { quotaOf } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { DraftProblem } from '../../src/lab/settings/draft.js'
import { limitCode } from '../../src/lab/settings/limit-code.js'
import { LAB_ALGORITHMS, limitDraft, limitOf } from '../../src/lab/settings/limit-draft.js'

const limits = LAB_ALGORITHMS.map((algorithm) => {
  const limit = limitOf(limitDraft(algorithm, { capacity: '20', refill: '0.08/s', slices: '10', align: 'first' }))
  if (limit instanceof DraftProblem) throw limit
  return limit
})

describe('code to copy', () => {
  it.each(limits)('makes the same $algorithm', (limit) => {
    const code = limitCode(limit, 3, 'TypeScript')
    const [, names, body] = /^import \{ (.*) \} from 'sluice'\n\n(.*)$/s.exec(code) ?? []
    const parts = names.split(', ')
    const run = new Function(...parts, `${body}; return [limiter.limit, limiter.peek('user:42').remaining, allowed]`)
    const exported = sluice as unknown as Record<string, unknown>
    const quota = quotaOf(limit)
    expect(run(...parts.map((name) => exported[name]))).toEqual([limit, quota - 3, true])
  })

  it.each(limits)('is a policy with the same $algorithm', (limit) => {
    const [, flow] = /^ {4}limit: \{ (.*) \}$/m.exec(limitCode(limit, 1, 'Policy')) ?? []
    const pairs = flow.split(', ').map((pair) => pair.split(': '))
    const read = pairs.map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value])
    expect(sluice.parseLimit(Object.fromEntries(read))).toEqual(limit)
  })
})
