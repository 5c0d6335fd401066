import { tokenBucket } from 'sluice'
import { LendingBuckets } from '../leased/lending-store.js'
import { EventQueue } from './event-queue.js'
import { type Faults, NO_FAULTS, startFaults } from './faults.js'
import type { Admission } from './law.js'
import type { Load } from './loads.js'
import { leased, type Member, type Strategy, type World } from './member.js'
import { type Call, FAIR, Network, type Weather } from './network.js'
import { Node } from './node.js'
import { Random } from './random.js'

/** A fleet, its limit, its load and its bad luck. Everything else follows from the seed. */
export interface Scenario {
  readonly seed: number
  readonly nodes: number
  readonly capacity: number
  /** The refill of the bucket. */
  readonly perSecond: number
  readonly seconds: number
  readonly load: Load
  /** The key of the request of that number. Default: one key for all. */
  readonly key?: (request: number) => string
  readonly strategy?: Strategy
  readonly weather?: Weather
  readonly faults?: Faults
  /** Clocks of nodes are faster or slower than the store's by at most this share. */
  readonly drift?: number
}

/** The store lost data while nodes held so many units, as it had counted. */
interface Loss {
  readonly atMs: number
  readonly held: number
}

/** What happened in a simulation. Times of calls are in milliseconds since the start. */
export interface History {
  /** In order of time. */
  readonly admissions: readonly (Admission & { readonly node: number })[]
  readonly startMs: number
  /** How many requests came to each node. */
  readonly asked: readonly number[]
  readonly calls: readonly Call[]
  readonly losses: readonly Loss[]
  /** When nodes died, by the store's clock. */
  readonly deathsMs: readonly number[]
}

/** Nodes, a store and a network, in one event queue. */
export class Simulation {
  readonly members: Member[]
  readonly world: World
  readonly losses: Loss[] = []
  readonly #deathsMs: number[] = []
  readonly #scenario: Scenario
  readonly #load: Random
  readonly #admissions: (Admission & { node: number })[] = []
  readonly #asked: number[]
  #requests = 0

  constructor(scenario: Scenario) {
    const { seed, nodes, capacity, perSecond } = scenario
    const queue = new EventQueue()
    // Load and network have numbers of their own, so that every strategy meets the same requests.
    this.#load = new Random(2 * seed)
    const random = new Random(2 * seed + 1)
    this.#scenario = scenario
    this.world = {
      queue,
      random,
      network: new Network(queue, random, scenario.weather ?? FAIR),
      server: new LendingBuckets(queue),
      limit: tokenBucket({ capacity, refill: `${perSecond}/s` }),
      capacity,
      perSecond,
      nodes,
    }
    this.members = Array.from({ length: nodes }, () => this.#newMember())
    this.#asked = this.members.map(() => 0)
  }

  async run(): Promise<History> {
    const { queue, network } = this.world
    const { seconds, faults = NO_FAULTS } = this.#scenario
    startFaults(this, faults)
    this.#scheduleRequest()
    await queue.runUntil(seconds * 1_000)
    const admissions = this.#admissions.sort((one, other) => one.atMs - other.atMs)
    const startMs = queue.startUs / 1_000
    return {
      admissions,
      startMs,
      asked: this.#asked,
      calls: network.calls,
      losses: this.losses,
      deathsMs: this.#deathsMs,
    }
  }

  /** A node dies, and a new one takes its place. */
  replace(index: number): void {
    this.members[index].node.die()
    this.#deathsMs.push(this.world.queue.now())
    this.members[index] = this.#newMember()
  }

  /** Remembers that the store loses data now. */
  lose(): void {
    const { queue, server, limit } = this.world
    const { held } = server.unitsOf({ name: 'api', key: 'key', limit })
    this.losses.push({ atMs: queue.elapsedMs, held })
  }

  #newMember(): Member {
    const { strategy = leased, drift = 0 } = this.#scenario
    const { queue, random } = this.world
    const node = new Node(queue, random.between(1 - drift, 1 + drift), drift === 0 ? 0 : random.between(-1e6, 1e6))
    return strategy(this.world, node)
  }

  #scheduleRequest(): void {
    const { queue, nodes } = this.world
    const { load, key } = this.#scenario
    const waitMs = this.#load.exponential(1_000 / load.perSecond(queue.elapsedMs))
    queue.after(waitMs, () => {
      this.#ask(load.node(this.#load, nodes, queue.elapsedMs), key?.(this.#requests) ?? 'key')
      this.#scheduleRequest()
    })
  }

  #ask(index: number, key: string): void {
    const { node, ask } = this.members[index]
    this.#requests++
    this.#asked[index]++
    node.run(() =>
      ask(key, (atUs) => !node.isDead && this.#admissions.push({ atMs: atUs / 1_000, units: 1, node: index })),
    )
  }
}

/** What a fleet did between two times since the start, in milliseconds. */
export function measure({ admissions, startMs, calls, asked }: History, fromMs: number, toMs: number) {
  const seconds = (toMs - fromMs) / 1_000
  const admitted = admissions.filter(({ atMs }) => atMs - startMs >= fromMs && atMs - startMs < toMs)
  const callsOf = new Map<Node, number>()
  for (const { sentMs, node } of calls) {
    if (sentMs >= fromMs && sentMs < toMs) callsOf.set(node, (callsOf.get(node) ?? 0) + 1)
  }
  const sum = [...callsOf.values()].reduce((total, each) => total + each, 0)
  return {
    perSecond: admitted.length / seconds,
    /** Calls a second: the mean of all nodes, and of the node with the most. */
    callsOfNode: sum / seconds / asked.length,
    callsOfBusiest: Math.max(...callsOf.values()) / seconds,
  }
}
