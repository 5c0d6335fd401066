import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('allocates nothing for a decision that it counts', () => {
  const script = fileURLToPath(new URL('./allocations-a-decision.mjs', import.meta.url))
  const { counted, ...objects } = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }))
  expect(counted).toBe(true)
  expect(Object.keys(objects)).toEqual(['tryAcquire', 'denied', 'check'])
  for (const [without, with_] of Object.values<[number, number]>(objects)) {
    expect(without).toBeGreaterThan(0.9)
    expect(with_).toBeLessThan(without + 0.05)
  }
})
