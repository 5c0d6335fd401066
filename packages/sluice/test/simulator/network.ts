import type { EventQueue } from './event-queue.js'
import type { Node } from './node.js'
import type { Random } from './random.js'

/** How messages fare. Shares are of messages, from 0 to 1. */
export interface Weather {
  /** A message takes at least half of this time, and at most one and a half of it. */
  readonly delayMs: number
  readonly lost: number
  /** Messages that arrive when the sender has long given up. */
  readonly late: number
  readonly doubled: number
}

export interface Call {
  readonly sentMs: number
  readonly node: Node
}

export const FAIR: Weather = { delayMs: 0.5, lost: 0, late: 0, doubled: 0 }

/** A node gives up a call after this long. */
const DEADLINE_MS = 50
const LATEST_MS = 1_500

/** Carries calls from nodes to the store and answers back: each message late, twice or never, as the weather is. */
export class Network {
  weather: Weather
  /** The calls that nodes sent: when, in milliseconds since the start, and which node. */
  readonly calls: Call[] = []
  /** While it is true, the store reads nothing. */
  isStoreDown = false
  readonly #queue: EventQueue
  readonly #random: Random
  readonly #cutOff = new Set<Node>()

  constructor(queue: EventQueue, random: Random, weather: Weather) {
    this.#queue = queue
    this.#random = random
    this.weather = weather
  }

  /** From now on no message passes between the store and this node. */
  cutOff(node: Node): void {
    this.#cutOff.add(node)
  }

  reconnect(node: Node): void {
    this.#cutOff.delete(node)
  }

  /** Counts a message between nodes, which a strategy carries itself. */
  count(node: Node): void {
    this.calls.push({ sentMs: this.#queue.elapsedMs, node })
  }

  /** Has the store do something; `undefined` if no answer comes in time. */
  call<T>(node: Node, atStore: () => Promise<T>): Promise<T | undefined> {
    this.count(node)
    return new Promise((resolve) => {
      const answer = (value: T | undefined) => {
        this.#queue.settle()
        node.run(() => resolve(value))
      }
      this.#queue.after(DEADLINE_MS, () => answer(undefined))
      this.#send(node, () => {
        if (this.isStoreDown) return
        this.#queue.settle()
        void atStore().then((value) => this.#send(node, () => answer(value)))
      })
    })
  }

  /** Sends a message between a node and the store, in either direction. */
  #send(node: Node, arrive: () => void): void {
    const { lost, doubled } = this.weather
    const arriveUnlessCutOff = () => {
      if (!this.#cutOff.has(node)) arrive()
    }
    if (this.#cutOff.has(node)) return
    if (!this.#random.chance(lost)) this.#queue.after(this.delayMs(), arriveUnlessCutOff)
    if (this.#random.chance(doubled)) this.#queue.after(this.delayMs(), arriveUnlessCutOff)
  }

  /** How long the next message takes. */
  delayMs(): number {
    const { delayMs, late } = this.weather
    if (this.#random.chance(late)) return this.#random.between(DEADLINE_MS, LATEST_MS)
    return delayMs * this.#random.between(0.5, 1.5)
  }
}
