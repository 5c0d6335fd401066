import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { NO_FAULTS } from './faults.js'
import { worstBurst } from './law.js'
import { even } from './loads.js'
import { scenarioOf } from './scenario-of.js'
import { eachSeed, onlySeed } from './seeds.js'
import { type History, Simulation } from './simulation.js'

/** A lease is over so long after the store granted it, at the latest. */
const LEASE_ENDS_MS = 2_100

describe('a fleet with loss, doubled and late messages, partitions, drift, and nodes and stores that die', () => {
  it('never admits more than capacity + refill·T in any interval', { timeout: 1_800_000 }, async () => {
    let admitted = 0
    await eachSeed('simulator/law', isLong ? 1_000 : 36, async (seed) => {
      const scenario = scenarioOf(seed, 'all')
      const { admissions, losses } = await new Simulation(scenario).run()
      expect(losses).toEqual([])
      expect(worstBurst(admissions, scenario.perSecond)).toBeLessThanOrEqual(scenario.capacity)
      admitted += admissions.length
    })
    if (onlySeed === undefined) expect(admitted).toBeGreaterThan(1_000)
  })

  for (const keeps of ['a copy', 'nothing'] as const) {
    it(`exceeds the law by what was held when its store came back with ${keeps}, and a capacity across that time`, {
      timeout: 600_000,
    }, async () => {
      let losses = 0
      await eachSeed('simulator/law', isLong ? 300 : 12, async (seed) => {
        const scenario = scenarioOf(seed, keeps)
        const history = await new Simulation(scenario).run()
        for (const { worst, held } of stretchesOf(history, scenario.perSecond))
          expect(worst).toBeLessThanOrEqual(scenario.capacity + held)
        const extra = history.losses.reduce((sum, { held }) => sum + scenario.capacity + held, 0)
        expect(worstBurst(history.admissions, scenario.perSecond)).toBeLessThanOrEqual(scenario.capacity + extra)
        losses += history.losses.length
      })
      if (onlySeed === undefined) expect(losses).toBeGreaterThan(0)
    })
  }
})

/** The times between losses: the worst burst in each, and the units that leases of lost states may still add to it. */
function* stretchesOf({ admissions, losses, startMs }: History, perSecond: number) {
  const endsMs = [...losses.map(({ atMs }) => atMs), Infinity]
  for (const [i, endMs] of endsMs.entries()) {
    const beginMs = endsMs[i - 1] ?? -Infinity
    const stretch = admissions.filter(({ atMs }) => atMs - startMs >= beginMs && atMs - startMs < endMs)
    const lost = losses.slice(0, i).filter(({ atMs }) => atMs > beginMs - LEASE_ENDS_MS)
    yield { worst: worstBurst(stretch, perSecond), held: lost.reduce((sum, { held }) => sum + held, 0) }
  }
}

it('a store that comes back with nothing makes a busy fleet exceed the law, within the bound', async () => {
  const faults = { ...NO_FAULTS, storeDiesMs: 2_000, storeKeeps: 'nothing' as const }
  const fleet = { seed: 1, nodes: 50, capacity: 3_000, perSecond: 1_000, seconds: 10, load: even(4_000), faults }
  const { admissions, losses } = await new Simulation(fleet).run()
  const worst = worstBurst(admissions, fleet.perSecond)
  expect(worst).toBeGreaterThan(fleet.capacity)
  expect(worst).toBeLessThanOrEqual(losses.reduce((sum, { held }) => sum + fleet.capacity + held, fleet.capacity))
})

it('a seed has one history', async () => {
  const run = async (seed: number) => {
    const { calls, ...history } = await new Simulation(scenarioOf(seed, 'a copy')).run()
    return { ...history, sentMs: calls.map(({ sentMs }) => sentMs) }
  }
  for (const seed of [3, 14]) expect(await run(seed)).toEqual(await run(seed))
  expect(await run(3)).not.toEqual(await run(4))
})
