import { tokenBucket } from 'sluice'
import { overshootOf } from 'sluice/synced'
import { describe, expect, it } from 'vitest'
import { worstBurst } from './law.js'
import { allToOne, even, type Load, moving, onOff, zipf } from './loads.js'
import { leased } from './member.js'
import { FAIR } from './network.js'
import { measure, type Scenario, Simulation } from './simulation.js'
import { SYNC_MS, staticSplit, synced } from './strategies.js'

const PER_SECOND = 1_000
const WARM_UP_MS = 2_000
const FLEET = { seed: 1, nodes: 50, capacity: PER_SECOND, perSecond: PER_SECOND, seconds: 12 }

/** Runs a fleet without faults, and says what it did after it has warmed up. */
async function run(scenario: Scenario) {
  const history = await new Simulation(scenario).run()
  const asked = history.asked.reduce((sum, each) => sum + each, 0)
  if (scenario.key === undefined)
    expect(worstBurst(history.admissions, scenario.perSecond)).toBeLessThanOrEqual(scenario.capacity)
  return { ...measure(history, WARM_UP_MS, scenario.seconds * 1_000), history, asked }
}

describe('50 nodes with one busy key under more load than the limit', () => {
  const steady: Readonly<Record<string, Load>> = {
    'that comes to all nodes alike': even(1.5 * PER_SECOND),
    'of ten times the limit': even(10 * PER_SECOND),
    'that follows the law of Zipf': zipf(1.5 * PER_SECOND),
    'that comes to one node': allToOne(1.5 * PER_SECOND),
  }
  for (const [name, load] of Object.entries(steady)) {
    it(`use at least 98 % of the limit with at most five calls a second a node, under a load ${name}`, async () => {
      const { perSecond, callsOfBusiest } = await run({ ...FLEET, load })
      expect(perSecond).toBeGreaterThan(0.98 * PER_SECOND)
      expect(callsOfBusiest).toBeLessThanOrEqual(5)
    })
  }

  it('use at least 95 % of the limit while the load moves to another node every five seconds', async () => {
    const { perSecond } = await run({ ...FLEET, seconds: 32, load: moving(1.5 * PER_SECOND, 5_000) })
    expect(perSecond).toBeGreaterThan(0.95 * PER_SECOND)
  })

  for (const times of [1.5, 2, 2.5, 3, 5]) {
    it(`make at most five calls a second a node if the load is ${times} times the limit every other second`, async () => {
      const { perSecond, callsOfNode } = await run({ ...FLEET, load: onOff(times * PER_SECOND) })
      expect(callsOfNode).toBeLessThanOrEqual(5)
      // What comes in a second and a tenth of that in the next, but no more than the limit.
      expect(perSecond).toBeGreaterThan(0.98 * Math.min(PER_SECOND, times * 0.55 * PER_SECOND))
    })
  }
})

it('nodes that lose one message in a hundred make hardly more calls, however great the load', async () => {
  const weather = { ...FAIR, lost: 0.01 }
  const { perSecond, callsOfBusiest } = await run({ ...FLEET, nodes: 4, load: even(20 * PER_SECOND), weather })
  expect(perSecond).toBeGreaterThan(0.95 * PER_SECOND)
  expect(callsOfBusiest).toBeLessThanOrEqual(6)
})

describe('50 nodes under less load than the limit', () => {
  it('admit every request, with at most five calls a second a node', async () => {
    const { history, asked, callsOfNode } = await run({ ...FLEET, load: even(0.8 * PER_SECOND) })
    expect(history.admissions).toHaveLength(asked)
    expect(callsOfNode).toBeLessThanOrEqual(5)
  })

  it('admit 100 a second if all of them come to one node, where a split of the limit admits 2', async () => {
    const article = { ...FLEET, capacity: 100, perSecond: 100, load: allToOne(100) }
    const shared = await run({ ...article, strategy: leased })
    const split = await run({ ...article, strategy: staticSplit })
    expect(shared.history.admissions.length).toBeGreaterThan(0.995 * shared.asked)
    expect(split.asked).toBe(shared.asked)
    expect(split.perSecond).toBeCloseTo(2, 0)
  })

  it('admit 1,000 a second if all of them come to one node, where a split into 50 times 20 admits 20', async () => {
    const article = { ...FLEET, load: allToOne(PER_SECOND) }
    const shared = await run({ ...article, strategy: leased })
    const split = await run({ ...article, strategy: staticSplit })
    expect(shared.history.admissions.length).toBeGreaterThan(0.995 * shared.asked)
    expect(split.perSecond).toBeCloseTo(20, 0)
  })
})

it('500 nodes with 150,000 requests a second for 100,000 units make at most 0.02 calls a decision', async () => {
  const large = { ...FLEET, nodes: 500, capacity: 100_000, perSecond: 100_000, seconds: 5, load: even(150_000) }
  const { perSecond, history, asked, callsOfNode } = await run(large)
  expect(perSecond).toBeGreaterThan(98_000)
  expect(callsOfNode).toBeLessThanOrEqual(5)
  expect(history.calls.length / asked).toBeLessThanOrEqual(0.02)
})

it('keys that come once each cost one call each', async () => {
  const { history, asked } = await run({ ...FLEET, load: even(2_000), key: (request) => `client-${request}` })
  expect(history.calls).toHaveLength(asked)
})

describe('50 nodes that sync their counts', () => {
  const limit = tokenBucket({ capacity: PER_SECOND, refill: `${PER_SECOND}/s` })
  const travelMs = Math.ceil(2 * 1.5 * FAIR.delayMs)
  const bound = PER_SECOND + overshootOf(limit, { nodes: FLEET.nodes, gapMs: SYNC_MS + travelMs })
  const loads = {
    even: even(3 * PER_SECOND),
    moving: moving(3 * PER_SECOND, 1_000),
    'on and off': onOff(3 * PER_SECOND),
  }
  for (const [name, load] of Object.entries(loads)) {
    it(`exceed the law within the bound, with one call in an interval, under a load that is ${name}`, async () => {
      const { admissions, calls } = await new Simulation({ ...FLEET, load, strategy: synced }).run()
      const worst = worstBurst(admissions, PER_SECOND)
      expect(worst).toBeGreaterThan(PER_SECOND)
      expect(worst).toBeLessThanOrEqual(bound)
      expect(calls.length).toBeLessThanOrEqual((FLEET.nodes * FLEET.seconds * 1_000) / (0.8 * SYNC_MS))
    })
  }
})
