import type { Clock, TokenBucket } from 'sluice'
import { type LeaseAnswer, LeasedStore, type LeaseFailure } from 'sluice/leased'
import { ManualClock } from 'sluice/testing'
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

/** A process with a leased store. It can die: then nothing that it started goes on. It can be held up: then its timers are late. */
export class Node {
  readonly store: LeasedStore
  #isDead = false
  #isHeldUp = false
  #late: (() => void)[] = []

  /** The node's clock runs `speed` times as fast as the store's. */
  constructor(inner: LendingBuckets, clock: ManualClock, speed: number, random: () => number) {
    const startMs = clock.now()
    const own: Clock = {
      now: () => startMs + (clock.now() - startMs) * speed,
      // A microsecond later, because the division rounds, and no alarm may ring too early.
      alarm: (atMs, ring) => clock.alarm(startMs + (atMs - startMs) / speed + 0.001, () => this.#ring(ring)),
    }
    this.store = new LeasedStore(inner, { clock: own }, random)
  }

  get isDead(): boolean {
    return this.#isDead
  }

  die(): void {
    this.#isDead = true
  }

  holdUp(): void {
    this.#isHeldUp = true
  }

  goOn(): void {
    this.#isHeldUp = false
    const late = this.#late
    this.#late = []
    for (const ring of late) this.#ring(ring)
  }

  #ring(ring: () => void): void {
    if (this.#isHeldUp) this.#late.push(ring)
    else if (!this.#isDead) ring()
  }
}

/** A store of one bucket, nodes that lease from it over a bad network, and a list of all admissions. */
export class Fleet {
  readonly clock = new ManualClock(1_745_000_000_000)
  readonly inner = new LendingBuckets(this.clock)
  readonly nodes: Node[]
  /** When units were admitted, by the clock of the store. */
  readonly admissions: { readonly atMs: number; readonly units: number }[] = []
  weather: () => Weather = () => ({ thereMs: 0, backMs: 0, fate: 'arrives' })
  readonly #limit: TokenBucket
  readonly #random: () => number

  constructor(limit: TokenBucket, speeds: readonly number[], random: () => number) {
    this.#limit = limit
    this.#random = random
    this.inner.wire = (deliver) => this.#carry(deliver)
    this.nodes = speeds.map((speed) => new Node(this.inner, this.clock, speed, random))
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
    this.nodes[index % this.nodes.length] = new Node(this.inner, this.clock, 1, this.#random)
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

/** The most units that were admitted in any interval, beyond what came back in it. The law: never more than the capacity. */
export function worstBurst(admissions: Fleet['admissions'], unitsPerMs: number): number {
  let sum = 0
  let least = Infinity
  let worst = 0
  for (const { atMs, units } of admissions) {
    least = Math.min(least, sum - unitsPerMs * atMs)
    sum += units
    worst = Math.max(worst, sum - unitsPerMs * atMs - least)
  }
  return worst
}
