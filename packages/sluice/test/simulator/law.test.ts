import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { worstBurst } from './law.js'
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
      let [losses, exceeded] = [0, 0]
      for (const seed of seeds(isLong ? 300 : 12)) {
        const scenario = scenarioOf(seed, keeps)
        const history = await new Simulation(scenario).run()
        const extra = history.losses.reduce((sum, { held }) => sum + scenario.capacity + held, 0)
        const worst = worstBurst(history.admissions, scenario.perSecond)
        expect(worst, replay(seed)).toBeLessThanOrEqual(scenario.capacity + extra)
        losses += history.losses.length
        if (worst > scenario.capacity) exceeded++
      }
      if (only !== undefined) return
      expect(losses).toBeGreaterThan(0)
      // The law alone would not hold.
      if (keeps === 'nothing') expect(exceeded).toBeGreaterThan(0)
    })
  }
})

it('a seed has one history', async () => {
  for (const seed of [3, 14]) {
    const run = () => new Simulation(scenarioOf(seed, 'a copy')).run()
    expect(await run()).toEqual(await run())
  }
})
