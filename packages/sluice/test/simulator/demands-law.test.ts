import { type Demand, type TokenBucket, tokenBucket } from 'sluice'
import { LeasedStore } from 'sluice/leased'
import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { NO_FAULTS } from './faults.js'
import { type Admission, worstBurst } from './law.js'
import { even, tide } from './loads.js'
import type { Strategy } from './member.js'
import { FAIR } from './network.js'
import { Random } from './random.js'
import { NOT_ANSWERED, RemoteStore } from './remote-store.js'
import { scenarioOf } from './scenario-of.js'
import { eachSeed, onlySeed } from './seeds.js'
import { Simulation } from './simulation.js'

const FLEET = { nodes: 20, seconds: 4, capacity: 1_000, perSecond: 1_000 }

/** What each key was admitted, and the limit that it has. */
type Admitted = Map<string, { readonly limit: TokenBucket; readonly admissions: Admission[] }>

const bucket = (capacity: number, perSecond: number) => tokenBucket({ capacity, refill: `${perSecond}/s` })

/** A node that decides requests of the given demands on a leased store, and notes what each key was admitted. */
function decides(demandsOf: () => readonly Demand[], admitted: Admitted, errors: Error[]): Strategy {
  return ({ queue, network, server, random }, node) => {
    const note = ({ name, key, limit, cost: units }: Demand, atUs: number) => {
      const id = JSON.stringify([name, key])
      const known = admitted.get(id) ?? { limit: limit as TokenBucket, admissions: [] }
      admitted.set(id, known)
      known.admissions.push({ atMs: atUs / 1_000, units })
    }
    // The law counts units that were taken, less those that were given back, each at its time.
    const inner = new RemoteStore(server, network, node, (demand, { atUs }) => {
      note(demand, atUs)
      note({ ...demand, cost: -demand.cost }, queue.nowUs)
    })
    const store = new LeasedStore(inner, { clock: node.clock }, () => random.next())
    return {
      node,
      ask: () => {
        const demands = demandsOf()
        const decision = demands.length === 1 ? store.decideNow(demands[0]) : undefined
        if (decision !== undefined) {
          if (decision.allowed) note(demands[0], queue.nowUs)
          return
        }
        queue.settle()
        const answered = store.decide(demands).then(({ allowed, decisions, takenUs }) => {
          if (!allowed || node.isDead) return
          // A unit on lease is taken when it is spent, and any other in the store, before its answer comes.
          for (const [i, demand] of demands.entries())
            note(demand, decisions[i].asOfMs === undefined ? takenUs[i] : queue.nowUs)
        })
        answered.catch((error) => {
          // What a store that does not answer was to give back stays taken.
          if (error.message !== NOT_ANSWERED) errors.push(error)
        })
      },
    }
  }
}

/** Runs the fleet of a seed with requests of these demands, and returns by how much the law is exceeded: never above 0. */
async function excessOf(seed: number, demandsOf: (random: Random) => () => readonly Demand[]) {
  const admitted: Admitted = new Map()
  const errors: Error[] = []
  const random = new Random(seed + 3_000_000)
  const strategy = decides(demandsOf(random), admitted, errors)
  const { faults = NO_FAULTS, weather = FAIR, drift = 0 } = scenarioOf(seed, 'all')
  // Calls that take long, and nodes that are held up during them, bring promised units near their end.
  const slow = { weather: { ...weather, delayMs: random.pick([2, 15]) }, faults: { ...faults, holdUpMs: 1_000 } }
  const load = random.pick([even, tide])(random.pick([1_000, 4_000]))
  await new Simulation({ ...FLEET, seed, drift, load, ...slow, strategy }).run()
  if (errors.length > 0) throw errors[0]
  let [excess, units] = [-Infinity, 0]
  for (const { limit, admissions } of admitted.values()) {
    const inOrder = admissions.sort((one, other) => one.atMs - other.atMs)
    excess = Math.max(excess, worstBurst(inOrder, Number.parseInt(limit.refill, 10)) - limit.capacity)
    units += inOrder.reduce((sum, each) => sum + each.units, 0)
  }
  return { excess, units }
}

/** Requests for one of a few keys, some of them busier than others, and for up to so many units. */
const severalKeys = (mostUnits: number) => (random: Random) => {
  const limit = bucket(random.pick([50, 400]), random.pick([100, 800]))
  return () => {
    const key = `key-${Math.floor(5 * random.next() ** 2)}`
    return [{ name: 'api', limit, key, cost: 1 + Math.floor(mostUnits * random.next() ** 4) }]
  }
}

/** Requests for a busy key, and requests that take from two busy keys and a rare one: from all of them or from none. */
const twoHotAndOneCold = (random: Random) => {
  const capacity = random.pick([50, 100, 400])
  const all = { name: 'all', limit: bucket(random.pick([100, 500]), 1_000), key: 'all' }
  const tenant = { name: 'tenant', limit: bucket(capacity, 4 * capacity), key: 'tenant' }
  const client = bucket(5, 1)
  return () => {
    const hot = [
      { ...all, cost: 1 },
      { ...tenant, cost: 1 + random.below(capacity / 8) },
    ]
    if (random.chance(0.2)) return [random.pick(hot)]
    return [...hot, { name: 'client', limit: client, key: `client-${random.below(3_000)}`, cost: 1 }]
  }
}

describe('a fleet with every fault', () => {
  const kinds = {
    'several keys': { demandsOf: severalKeys(1), seeds: 12 },
    'several keys and requests for up to 60 units': { demandsOf: severalKeys(60), seeds: 12 },
    'two busy keys and a rare one in each request': { demandsOf: twoHotAndOneCold, seeds: 12 },
  }
  for (const [name, { demandsOf, seeds }] of Object.entries(kinds)) {
    it(`keeps the law of each key with ${name}`, { timeout: 1_200_000 }, async () => {
      let admitted = 0
      await eachSeed('simulator/demands-law', isLong ? 20 * seeds : seeds, async (seed) => {
        const { excess, units } = await excessOf(seed, demandsOf)
        expect(excess).toBeLessThanOrEqual(0)
        admitted += units
      })
      if (onlySeed === undefined) expect(admitted).toBeGreaterThan(1_000)
    })
  }
})
