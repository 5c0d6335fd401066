import { createPolicy, memoryStore, tokenBucket, unlimited } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, it } from 'vitest'

it('a refund while a key is shut out by a capacity of 0 gives back nothing', () => {
  const limit = tokenBucket({ capacity: 10, refill: '1/h' })
  const levels = [{ name: 'user', key: 'user', limit }] as const
  const policy = createPolicy({ name: 'api', levels, store: memoryStore({ clock: new ManualClock(0) }) })
  policy.check({ user: 'x' }, { cost: 10 })
  policy.override('user', 'x', tokenBucket({ capacity: 0, refill: '1/h' }))
  expect(policy.check({ user: 'x' }).allowed).toBe(false)
  policy.refund({ user: 'x' }, { cost: 1 })
  policy.removeOverride('user', 'x')
  expect(policy.peek({ user: 'x' }).levels[0].decision).toMatchObject({ allowed: false, remaining: 0 })
})

it('unlimited() refuses numbers, because it has none', () => {
  expect(() => unlimited(...([{ quota: 5 }] as unknown as never[]))).toThrow(
    'unlimited() must be called without numbers',
  )
})
