import fc from 'fast-check'
import type { Limit } from 'sluice'
import { describe, expect, it } from 'vitest'
import { keepsTheLaw } from './keeps-the-law.js'
import { foretold, play } from './play.js'
import { KEYS, limits, START, scenes } from './scenes.js'

/** Each run is a scene of up to 20 guests. */
const RUNS = { numRuns: 400 }
const patient = fc.constant(undefined)
const impatient = fc.oneof(fc.constant(undefined), fc.constant(0), fc.integer({ min: 0, max: 100 }))

describe.each(Object.entries(limits))('callers that wait for a %s', (_, limit) => {
  it('are served at the very millisecond at which the first in line can be', async () => {
    await fc.assert(
      fc.asyncProperty(scenes(limit, patient), async (scene) => {
        const { outcomes, clock } = await play(scene)
        const expected = foretold(scene)
        for (const { name } of scene.guests) {
          const { atMs, decision } = outcomes.of(name) ?? {}
          if (expected.has(name)) expect(decision ? atMs : undefined).toBeCloseTo(expected.get(name) ?? 0, 2)
          else expect(decision).toBeUndefined()
        }
        expect(clock.nextAlarmMs).toBeUndefined()
      }),
      RUNS,
    )
  })

  it('keep their order and the law, and ask no more often than they must', async () => {
    await fc.assert(
      fc.asyncProperty(scenes(limit, impatient), async (scene) => {
        const { outcomes, clock, decides } = await play(scene)
        const guests = new Map(scene.guests.map((guest) => [guest.name, guest]))
        const admitted = outcomes.admitted.map((name) => {
          const { key, cost } = guests.get(name) ?? { key: '', cost: 0 }
          return { key, name, cost, atMs: outcomes.of(name)?.atMs ?? 0 }
        })
        for (const key of KEYS) {
          const ofKey = admitted.filter((each) => each.key === key)
          const inOrder = scene.guests.filter(({ name }) => ofKey.some((each) => each.name === name))
          expect(ofKey.map(({ name }) => name)).toEqual(inOrder.map(({ name }) => name))
          keepsTheLaw(scene.limit, ofKey)
        }
        for (const { name, atMs, maxWaitMs = Infinity } of scene.guests) {
          const outcome = outcomes.of(name)
          expect(outcome).toBeDefined()
          expect((outcome?.atMs ?? 0) - (START + atMs)).toBeLessThanOrEqual(maxWaitMs)
        }
        // The store is asked for each guest when it becomes the first, when its wait is over, and when one before it leaves.
        expect(decides).toBeLessThanOrEqual(3 * scene.guests.length)
        expect(clock.nextAlarmMs).toBeUndefined()
      }),
      RUNS,
    )
  })

  it('take nothing when they give up', async () => {
    await fc.assert(
      fc.asyncProperty(scenes(limit, impatient), async (scene) => {
        const { outcomes } = await play(scene)
        const stayed = scene.guests.filter(({ name }) => outcomes.of(name)?.decision)
        if (leavesGaps(scene.limit)) return
        // Play again with the served guests only: each is served when it was served before.
        const { outcomes: again } = await play({
          ...scene,
          guests: stayed.map((guest) => ({
            ...guest,
            atMs: (outcomes.of(guest.name)?.atMs ?? 0) - START,
            leavesAtMs: undefined,
            maxWaitMs: 0,
          })),
        })
        for (const { name } of stayed) expect(again.of(name)?.decision).toEqual(outcomes.of(name)?.decision)
      }),
      RUNS,
    )
  })
})

/** If a waiter leaves a slot that is not the last one, the slot stays empty, and the waiters behind do not move up. */
function leavesGaps(limit: Limit): boolean {
  return limit.algorithm === 'leaky-bucket'
}
