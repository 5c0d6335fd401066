import { tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { Fleet, worstBurst } from './fleet.js'

const NODES = 10
const PER_SECOND = 1_000
const TICK_MS = 5
const WARM_UP_MS = 2_000
const MEASURED_MS = 6_000

/** Numbers from 0 to 1 that are the same in every run. */
function randomNumbers(): () => number {
  let state = 1
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Lets requests come at a rate, each to a node that `pick` chooses, and says how much of the limit was used by how many calls. */
async function load(perSecond: number, pick: (random: number, atMs: number) => number) {
  const random = randomNumbers()
  const limit = tokenBucket({ capacity: PER_SECOND, refill: `${PER_SECOND}/s` })
  const fleet = new Fleet(
    limit,
    Array.from({ length: NODES }, () => 1),
    random,
  )
  fleet.weather = () => ({ thereMs: 0.5, backMs: 0.5, fate: 'arrives' })
  const calls = () => fleet.inner.counts.exchanges + fleet.inner.counts.decides
  let [admittedBefore, callsBefore] = [0, 0]
  for (let atMs = 0; atMs < WARM_UP_MS + MEASURED_MS; atMs += TICK_MS) {
    if (atMs === WARM_UP_MS) [admittedBefore, callsBefore] = [fleet.admissions.length, calls()]
    const due = (perSecond * TICK_MS) / 1_000
    const requests = Math.floor(due) + (random() < due % 1 ? 1 : 0)
    for (let i = 0; i < requests; i++) fleet.ask(pick(random(), atMs), 1)
    await fleet.clock.advanceAsync(TICK_MS)
  }
  const seconds = MEASURED_MS / 1_000
  return {
    use: (fleet.admissions.length - admittedBefore) / seconds / PER_SECOND,
    callsANode: (calls() - callsBefore) / seconds / NODES,
    burst: worstBurst(fleet.admissions, PER_SECOND / 1_000),
  }
}

const loads: Readonly<Record<string, (random: number, atMs: number) => number>> = {
  'that comes to all nodes alike': (random) => Math.floor(random * NODES),
  'that comes mostly to a few nodes': (random) => Math.floor(random ** 3 * NODES),
  'that comes to one node': () => 0,
  'that moves to another node every five seconds': (_, atMs) => Math.floor(atMs / 5_000),
}

describe('one busy key', () => {
  for (const [name, pick] of Object.entries(loads)) {
    it(`gets at least 98 % of the limit under a load of 1.5 times the limit ${name}, with five calls a second a node`, async () => {
      const { use, callsANode, burst } = await load(1.5 * PER_SECOND, pick)
      expect(use).toBeGreaterThan(0.98)
      expect(callsANode).toBeLessThanOrEqual(5)
      expect(burst).toBeLessThanOrEqual(PER_SECOND)
    })
  }

  it('is not denied under a load of 0.8 times the limit', async () => {
    const { use, callsANode } = await load(0.8 * PER_SECOND, (random) => Math.floor(random * NODES))
    expect(use).toBeGreaterThan(0.79)
    expect(callsANode).toBeLessThanOrEqual(5)
  })
})
