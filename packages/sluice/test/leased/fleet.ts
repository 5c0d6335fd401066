import type { TokenBucket } from 'sluice'
import { type LeaseAnswer, LeasedStore, type LeaseFailure } from 'sluice/leased'
import { ManualClock } from 'sluice/testing'
import type { Admission } from '../simulator/law.js'
import { Node } from '../simulator/node.js'
import { admitted, LendingBuckets } from './lending-store.js'

/** How a message for a lease fares. */
export interface Weather {
  /** How long a request and its answer take, in milliseconds. */
  readonly thereMs: number
  readonly backMs: number
  /** A request that is lost never arrives; a late one arrives after the node has given up; a doubled one arrives twice. */
  readonly fate: 'arrives' | 'isLost' | 'answerIsLost' | 'isLate' | 'isDoubled'
}

/** A node gives up a call after this long. */
const DEADLINE_MS = 50
const LATE_MS = 700

/** A process with a leased store. */
class LeasingNode extends Node {
  readonly store: LeasedStore

  constructor(inner: LendingBuckets, clock: ManualClock, speed: number, random: () => number) {
    super(clock, speed)
    this.store = new LeasedStore(inner, { clock: this.clock }, random)
  }
}

/** A store of one bucket, nodes that lease from it over a bad network, and a list of all admissions. */
export class Fleet {
  readonly clock = new ManualClock(1_745_000_000_000)
  readonly inner = new LendingBuckets(this.clock)
  readonly nodes: LeasingNode[]
  /** When units were admitted, by the clock of the store. */
  readonly admissions: Admission[] = []
  weather: () => Weather = () => ({ thereMs: 0, backMs: 0, fate: 'arrives' })
  readonly #limit: TokenBucket
  readonly #random: () => number

  constructor(limit: TokenBucket, speeds: readonly number[], random: () => number) {
    this.#limit = limit
    this.#random = random
    this.inner.wire = (deliver) => this.#carry(deliver)
    this.nodes = speeds.map((speed) => new LeasingNode(this.inner, this.clock, speed, random))
  }

  /** Lets a request come to a node. */
  ask(index: number, cost: number): void {
    const node = this.nodes[index % this.nodes.length]
    const { store } = node
    void store.decide([{ name: 'api', limit: this.#limit, key: 'busy', cost }]).then(({ allowed, decisions }) => {
      const isCounted = allowed && decisions[0].degraded === undefined && !node.isDead
      if (isCounted) this.admissions.push({ atMs: this.clock.now(), units: cost })
    })
  }

  /** A node dies, and another one takes its place. */
  kill(index: number): void {
    this.nodes[index % this.nodes.length].die()
    this.nodes[index % this.nodes.length] = new LeasingNode(this.inner, this.clock, 1, this.#random)
  }

  #carry(deliver: () => LeaseAnswer): Promise<LeaseAnswer | LeaseFailure> {
    const { thereMs, backMs, fate } = this.weather()
    const after = (ms: number, run: () => void) => void this.clock.alarm(this.clock.now() + ms, run)
    return new Promise((resolve) => {
      after(DEADLINE_MS, () => resolve({ instead: admitted }))
      if (fate === 'isLost') return
      after(fate === 'isLate' ? LATE_MS : thereMs, () => {
        const answer = deliver()
        if (fate === 'isDoubled') after(LATE_MS, deliver)
        if (fate !== 'answerIsLost') after(backMs, () => resolve(answer))
      })
    })
  }
}
