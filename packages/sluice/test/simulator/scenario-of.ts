import type { Faults } from './faults.js'
import { allToOne, even, type Load, moving, onOff, tide, zipf } from './loads.js'
import type { Weather } from './network.js'
import { Random } from './random.js'
import type { Scenario } from './simulation.js'

const LOADS: readonly ((perSecond: number) => Load)[] = [
  even,
  zipf,
  allToOne,
  (perSecond) => moving(perSecond, 700),
  onOff,
  tide,
]

/**
 * The scenario of a seed: a fleet of 50 or 500 nodes under some load, with every fault. Loads take turns, and of
 * seven fleets with a load one is large.
 */
export function scenarioOf(seed: number, storeKeeps: Faults['storeKeeps']): Scenario {
  const random = new Random(seed + 1_000_000)
  const nodes = Math.floor(seed / LOADS.length) % 7 === 2 ? 500 : 50
  const perSecond = random.pick([20, 200, 1_000, 3_000])
  const load = LOADS[seed % LOADS.length]
  return {
    seed,
    nodes,
    perSecond,
    capacity: Math.max(5, Math.round(perSecond * random.pick([0.1, 0.5, 1, 3]))),
    seconds: nodes === 500 ? 4 : 8,
    load: load(perSecond * random.pick([0.7, 1.2, 2, 4])),
    weather: badWeather(random),
    faults: {
      nodeDiesMs: random.between(300, 3_000),
      holdUpMs: random.between(1_000, 4_000),
      partitionMs: random.between(1_000, 5_000),
      storeDiesMs: random.between(1_500, 5_000),
      storeKeeps,
    },
    drift: random.pick([0.0002, 0.004, 0.009]),
  }
}

/** A network that loses, delays and doubles messages. */
export function badWeather(random: Random): Weather {
  return {
    delayMs: random.pick([0.5, 2, 15]),
    lost: random.pick([0, 0.01, 0.1]),
    late: random.pick([0, 0.01, 0.1]),
    doubled: random.pick([0, 0.01, 0.1]),
  }
}
