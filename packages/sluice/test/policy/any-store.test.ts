import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createPolicy, fixedWindow, InvalidTypeError, memoryStore } from '../../src/index.js'
import { ReferenceStore } from '../../src/testing/reference-store.js'
import { Dice, randomLevels, randomRequest } from './redis/random-policies.js'

beforeAll(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterAll(() => {
  vi.restoreAllMocks()
})

it('a policy on a third-party store decides as on the memory store', () => {
  const dice = new Dice(51)
  for (let i = 0; i < 60; i++) {
    const clock = new ManualClock(Date.UTC(2026, 0, 1) + dice.from(0, 100_000))
    const { levels } = randomLevels(dice)
    const ours = createPolicy({ name: 'random', levels, store: memoryStore({ clock }) })
    const theirs = createPolicy({ name: 'random', levels, store: new ReferenceStore(clock) })
    for (let j = 0; j < 40; j++) {
      clock.advance(dice.of([0, 0, 1, 17.123, 100, 333, dice.from(0, 1_500)]))
      const request = randomRequest(dice)
      const cost = dice.of([0, 1, 1, 1, 2, 3, 13])
      expect(theirs.check(request, { cost })).toEqual(ours.check(request, { cost }))
    }
  }
})

it('override throws if the store keeps no overrides', () => {
  const limit = fixedWindow({ quota: 1, window: '1d' })
  const store = new ReferenceStore(new ManualClock(Date.UTC(2026, 0, 1)))
  Object.defineProperty(store, 'overrides', { value: undefined })
  const policy = createPolicy({ name: 'api', levels: [{ name: 'all', limit }], store })
  expect(policy.overrides()).toEqual([])
  expect(() => policy.override('all', [], limit)).toThrow(InvalidTypeError)
  expect(() => policy.override('all', [], limit)).toThrow(/overrides/)
  expect(policy.check({}).allowed).toBe(true)
})
