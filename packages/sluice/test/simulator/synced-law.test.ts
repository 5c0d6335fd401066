import { tokenBucket } from 'sluice'
import { overshootOf } from 'sluice/synced'
import { expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { NO_FAULTS } from './faults.js'
import { type Admission, worstBurst } from './law.js'
import { even, floods, moving, onOff } from './loads.js'
import type { Strategy } from './member.js'
import { Random } from './random.js'
import { badWeather } from './scenario-of.js'
import { eachSeed } from './seeds.js'
import { type Scenario, Simulation } from './simulation.js'
import { syncedMember, syncedStoreOf } from './strategies.js'

const DRIFT = 0.009

/** A fleet that is small, so that the bound is near, and a load that takes a whole bucket from each node in an interval. */
function scenarioOf(seed: number): Scenario {
  const random = new Random(seed + 2_000_000)
  const nodes = 2 + random.below(5)
  const perSecond = random.pick([20, 100, 400])
  const capacity = Math.max(5, Math.round(perSecond * random.pick([0.1, 0.5, 1])))
  const flood = 15 * capacity * nodes
  const load = random.pick([floods(flood, 2_500), even(4 * perSecond), onOff(flood), moving(flood, 700)])
  const faults = {
    ...NO_FAULTS,
    nodeDiesMs: random.between(500, 4_000),
    holdUpMs: random.between(1_000, 4_000),
    partitionMs: random.between(1_000, 5_000),
    storeDiesMs: random.between(1_500, 5_000),
  }
  return { seed, nodes, capacity, perSecond, seconds: 6, load, weather: badWeather(random), faults, drift: DRIFT }
}

/** Runs a fleet on synced stores. Says also the longest gap that a node had had when a request came to it. */
async function run(scenario: Scenario) {
  let gapMs = 0
  const strategy: Strategy = (world, node) => {
    const store = syncedStoreOf(world, node)
    const member = syncedMember(world, node, store)
    return {
      node,
      ask: (key, admit) => {
        member.ask(key, admit)
        gapMs = Math.max(gapMs, store.stats().longestGapMs)
      },
    }
  }
  const history = await new Simulation({ ...scenario, strategy }).run()
  return { ...history, gapMs }
}

it('synced nodes exceed the law within the bound, with the gap that loss, partitions and hold-ups make', async () => {
  let nearest = 0
  await eachSeed('simulator/synced-law', isLong ? 600 : 30, async (seed) => {
    const scenario = scenarioOf(seed)
    const { capacity, perSecond, nodes } = scenario
    const { admissions, deathsMs, gapMs } = await run(scenario)
    // A node measures gaps by its own clock, and its view refills by it.
    const sureGapMs = Math.ceil((gapMs * (1 + DRIFT)) / (1 - DRIFT))
    const limit = tokenBucket({ capacity, refill: `${perSecond}/s` })
    const perNode = overshootOf(limit, { nodes: 2, gapMs: sureGapMs })
    const bound = capacity + (nodes - 1) * perNode + (2 * DRIFT * perSecond * sureGapMs) / 1_000
    const worst = worstBurst(withDeaths(admissions, deathsMs, perNode), perSecond)
    expect(worst).toBeLessThanOrEqual(bound)
    nearest = Math.max(nearest, worst / bound)
  })
  expect(nearest).toBeGreaterThan(0.5)
}, 600_000)

/** A node that dies takes units with it that the store never learns of: in each interval, as many as one more node may. */
function withDeaths(admissions: readonly Admission[], deathsMs: readonly number[], units: number): Admission[] {
  const deaths = deathsMs.map((atMs) => ({ atMs, units: -units }))
  return [...admissions, ...deaths].sort((one, other) => one.atMs - other.atMs)
}
