import { setTimeout as pause } from 'node:timers/promises'
import { type Decision, fixedWindow, tokenBucket } from '../../src/limits/index.js'
import type { OnFailure } from '../../src/stores/index.js'
import { type RedisStore, redisStore } from '../../src/stores/redis/index.js'
import { type ClientName, connected, onServer, type TestClient } from './faults-clients.js'
import { LoopDelay } from './faults-loop-delay.js'

const DEADLINE_MS = 50
export const CAPACITY = 200
export const REFILL_PER_MS = 1
export const INSTANCES = 4

const bucket = tokenBucket({ capacity: CAPACITY, refill: '1000/s' })
const ledger = fixedWindow({ quota: 1_000_000, window: '100d' })

/** What callers of one kind were told. */
export class Tally {
  /** Answers by Redis: allowed, and all. */
  admitted = 0
  answered = 0
  /** Answers without Redis: allowed, and all. */
  degradedAdmitted = 0
  degraded = 0
  /** The ways in which they were made. */
  readonly ways = new Set<string>()
  firstUs = Infinity
  lastUs = 0
  firstDegradedMs = Infinity
  lastDegradedMs = 0

  add({ allowed, degraded }: Decision, takenUs: number): void {
    if (degraded === undefined) {
      this.answered++
      if (!allowed) return
      this.admitted++
      this.firstUs = Math.min(this.firstUs, takenUs)
      this.lastUs = Math.max(this.lastUs, takenUs)
    } else {
      this.degraded++
      if (allowed) this.degradedAdmitted++
      this.ways.add(degraded)
      this.firstDegradedMs = Math.min(this.firstDegradedMs, performance.now())
      this.lastDegradedMs = performance.now()
    }
  }

  /** How long Redis admitted, by its own clock. */
  get spanMs(): number {
    return Math.max(0, this.lastUs - this.firstUs) / 1000
  }
}

/**
 * 200 callers of one store. They ask, wait a little and ask again, until told to stop: 60 for each `onFailure`, on a
 * bucket a kind; and 20 that each charge a new key every time, so that a call that ran twice is seen.
 */
export class Load {
  readonly store: RedisStore
  readonly delay = new LoopDelay().start()
  /** The longest that an answer took beyond its deadline and the delay of the event loop. */
  worstExcessMs = -Infinity
  /** How many keys have been charged, and those of them that Redis said it had charged. */
  issued = 0
  readonly confirmed = new Set<number>()
  /** Rejections: there should be none. */
  readonly errors: unknown[] = []
  #tallies = newTallies()
  #running = true
  readonly #port: number
  readonly #close: () => void
  readonly #callers: readonly Promise<void>[]
  readonly #onUnhandled = (error: unknown) => this.errors.push(error)

  private constructor(port: number, { client, close }: TestClient) {
    this.store = redisStore(client, { deadlineMs: DEADLINE_MS, instances: INSTANCES })
    this.#port = port
    this.#close = close
    process.on('unhandledRejection', this.#onUnhandled)
    const kinds: readonly OnFailure[] = ['closed', 'local', 'open']
    this.#callers = [
      ...kinds.flatMap((kind) => Array.from({ length: 60 }, () => this.#calls(() => this.#ask(kind)))),
      ...Array.from({ length: 20 }, () => this.#calls(() => this.#charge())),
    ]
  }

  /** Begins as soon as the client is connected: to the server's port, or to what leads there. */
  static async on(name: ClientName, port: number, connectTo = port): Promise<Load> {
    return new Load(port, await connected(name, connectTo))
  }

  get tallies(): Readonly<Record<OnFailure, Tally>> {
    return this.#tallies
  }

  /** Begins to count anew, and gives what was counted. */
  recount(): Readonly<Record<OnFailure, Tally>> {
    const counted = this.#tallies
    this.#tallies = newTallies()
    return counted
  }

  /** Has every kind of caller been answered by Redis so often, and denied? */
  isServed(times: number): boolean {
    return Object.values(this.#tallies).every((tally) => tally.answered >= times && tally.admitted < tally.answered)
  }

  /** Has every kind of caller been answered without Redis so often, and been denied where that is limited? */
  isDegraded(times: number): boolean {
    const { open, closed, local } = this.#tallies
    return [open, closed, local].every(({ degraded }) => degraded >= times) && local.degradedAdmitted < local.degraded
  }

  /** The keys that were charged, as Redis has them now: how often each. */
  async charged(): Promise<ReadonlyMap<number, number>> {
    return onServer(this.#port, async (redis) => {
      const keys = await redis.keys('sluice:f*:{*}ledger')
      const values = keys.length === 0 ? [] : await redis.mgetBuffer(...keys)
      return new Map(keys.map((key, i) => [Number(/\{(\d+)\}/.exec(key)?.[1]), values[i]?.readDoubleLE(8) ?? 0]))
    })
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#callers)
    this.#close()
    this.delay.stop()
    // Rejections are reported after the promises that follow from them.
    await new Promise(setImmediate)
    process.off('unhandledRejection', this.#onUnhandled)
  }

  async #calls(call: () => Promise<void>): Promise<void> {
    while (this.#running) {
      const startedMs = performance.now()
      const delayedMs = this.delay.totalMs()
      await call().catch((error) => this.errors.push(error))
      const delayMs = Math.max(0, this.delay.totalMs() - delayedMs)
      this.worstExcessMs = Math.max(this.worstExcessMs, performance.now() - startedMs - DEADLINE_MS - delayMs)
      await pause(10)
    }
  }

  async #ask(onFailure: OnFailure): Promise<void> {
    const tallies = this.#tallies
    const { decisions, takenUs } = await this.store.decide([
      { name: onFailure, limit: bucket, key: 'everyone', cost: 1, onFailure },
    ])
    tallies[onFailure].add(decisions[0], takenUs[0])
  }

  async #charge(): Promise<void> {
    const id = ++this.issued
    const { degraded } = await this.store.charge({ name: 'ledger', limit: ledger, key: String(id), cost: 1 })
    if (degraded === undefined) this.confirmed.add(id)
  }
}

function newTallies() {
  return { closed: new Tally(), local: new Tally(), open: new Tally() }
}
