import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { NO_FAULTS } from './faults.js'
import { worstBurst } from './law.js'
import { even } from './loads.js'
import { scenarioOf } from './scenario-of.js'
import { Simulation } from './simulation.js'

/** `SLUICE_SEED=17 npx vitest run simulator/law` replays one seed. */
const only = process.env.SLUICE_SEED
const seeds = (count: number) => (only === undefined ? Array.from({ length: count }, (_, i) => i) : [Number(only)])
const replay = (seed: number) => `SLUICE_SEED=${seed} npx vitest run simulator/law`

describe('a fleet with loss, doubled and late messages, partitions, drift, and nodes and stores that die', () => {
  it('never admits more than capacity + refill·T in any interval', { timeout: 1_800_000 }, async () => {
    let admitted = 0
    for (const seed of seeds(isLong ? 1_000 : 36)) {
      const scenario = scenarioOf(seed, 'all')
      const { admissions, losses } = await new Simulation(scenario).run()
      expect(losses).toEqual([])
      expect(worstBurst(admissions, scenario.perSecond), replay(seed)).toBeLessThanOrEqual(scenario.capacity)
      admitted += admissions.length
    }
    expect(admitted).toBeGreaterThan(1_000)
  })

  for (const keeps of ['a copy', 'nothing'] as const) {
    it(`admits at most a capacity and what was held more for each time that its store comes back with ${keeps}`, {
      timeout: 600_000,
    }, async () => {
      let losses = 0
      for (const seed of seeds(isLong ? 300 : 12)) {
        const scenario = scenarioOf(seed, keeps)
        const history = await new Simulation(scenario).run()
        const extra = history.losses.reduce((sum, { held }) => sum + scenario.capacity + held, 0)
        const worst = worstBurst(history.admissions, scenario.perSecond)
        expect(worst, replay(seed)).toBeLessThanOrEqual(scenario.capacity + extra)
        losses += history.losses.length
      }
      if (only === undefined) expect(losses).toBeGreaterThan(0)
    })
  }
})

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
