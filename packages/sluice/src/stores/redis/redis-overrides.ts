import type { Clock } from '../../clock.js'
import { invalidValue } from '../../errors.js'
import type { Limit } from '../../limits/index.js'
import type { Awaitable } from '../awaitable.js'
import type { Overrides } from '../overrides.js'
import { Deadlines } from './deadlines.js'
import { OverrideCopy } from './override-copy.js'
import type { OverrideSource } from './override-source.js'
import { PageSize } from './page-size.js'

// Held, so that a test that replaces the global does not stop reading.
const { performance } = globalThis

/** What is known may be this old before it is asked for again, and twice as old before a request waits for the answer. */
const REFRESH_MS = 1_000

/** An override that this process has set. */
interface OwnChange {
  readonly level: string
  readonly key: string
  readonly limits: readonly Limit[] | undefined
  readonly untilMs: number | undefined
  readonly version: number
}

/** Reading under way, which requests wait for until its deadline. */
interface Reading {
  /** 1 until it has ended. */
  open: number
  /** Lets the requests that wait go on. */
  end(isKnown: boolean): void
}

/**
 * The overrides of one policy, kept in Redis and known here: a decision looks at what is known, and about once a second
 * asks in the background for what has changed. There is no timer: the first request after a long pause waits for the news.
 *
 * Reading goes page by page, and each page counts: if one fails, the next reading goes on from there. No request waits
 * longer than the store's deadline for it; what a request decides without the news is told by `refresh`.
 */
export class RedisOverrides implements Overrides {
  readonly #source: OverrideSource
  readonly #clock: Clock
  readonly #pages: PageSize
  readonly #deadlines: Deadlines<Reading>
  #copy = new OverrideCopy()
  /** A copy that is being read from the start and takes the place of the other when it is complete. */
  #next: OverrideCopy | undefined
  /** How far Redis's clock is ahead of ours. */
  #aheadMs = 0
  /** When all was known that had been set until then. */
  #knownMs = -Infinity
  #triedMs = -Infinity
  #isReading = false
  /** What requests wait for. */
  #waiting: Promise<boolean> | undefined
  /** What this process has set while a page is under way, which may not know of it. */
  #meanwhile: OwnChange[] | undefined
  readonly #redisClock: Clock = { now: () => this.#clock.now() + this.#aheadMs }

  constructor(source: OverrideSource, clock: Clock, deadlineMs: number) {
    this.#source = source
    this.#clock = clock
    this.#pages = new PageSize(deadlineMs)
    this.#deadlines = new Deadlines(deadlineMs, (reading) => this.#stopWaiting(reading, false))
  }

  get size(): number {
    return this.#copy.table.size + (this.#isFirst ? (this.#next?.table.size ?? 0) : 0)
  }

  /** At first, when nothing is known in full, what has been read so far counts. */
  get(level: string, key: string): readonly Limit[] | undefined {
    const limits = this.#copy.table.get(level, key, this.#redisClock)
    return limits === undefined && this.#isFirst ? this.#next?.table.get(level, key, this.#redisClock) : limits
  }

  async set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs?: number): Promise<void> {
    const version = await this.#source.set({
      name: `${level}/${key.toWellFormed()}`,
      value: limits === undefined ? '' : JSON.stringify({ limits, untilMs }),
      untilMs: untilMs === undefined ? -1 : Math.ceil(untilMs),
    })
    if (version === 0) throw invalidValue('until', 'a time that is still to come, by the clock of Redis', untilMs)
    for (const copy of [this.#copy, this.#next]) copy?.set(level, key, limits, untilMs, this.#redisClock)
    this.#meanwhile?.push({ level, key, limits, untilMs, version })
  }

  refresh(): Awaitable<boolean> {
    const nowMs = this.#clock.now()
    const ageMs = nowMs - this.#knownMs
    if (ageMs < REFRESH_MS) return true
    if (!this.#isReading && nowMs - this.#triedMs >= REFRESH_MS) {
      this.#triedMs = nowMs
      this.#startReading()
    }
    return ageMs < 2 * REFRESH_MS || (this.#waiting ?? false)
  }

  get #isFirst(): boolean {
    return this.#knownMs === -Infinity
  }

  #startReading(): void {
    this.#isReading = true
    let end: Reading['end'] = () => {}
    const known = new Promise<boolean>((resolve) => {
      end = resolve
    })
    const reading: Reading = { open: 1, end }
    if (!this.#source.isAway) {
      this.#waiting = known
      this.#deadlines.hold()
      this.#deadlines.add(reading)
    }
    void this.#read().then((isKnown) => {
      this.#isReading = false
      reading.open = 0
      this.#stopWaiting(reading, isKnown)
    })
  }

  #stopWaiting(reading: Reading, isKnown: boolean): void {
    this.#waiting = undefined
    this.#deadlines.release()
    reading.end(isKnown)
  }

  /** Reads pages until all is known, and says so, or until one fails. */
  async #read(): Promise<boolean> {
    try {
      while (!(await this.#readPage())) {}
      return true
    } catch {
      return false
    }
  }

  /** Reads the next page, and says whether all is known now. */
  async #readPage(): Promise<boolean> {
    const askedMs = this.#clock.now()
    const sentMs = performance.now()
    const { version, base } = this.#next ?? this.#copy
    const most = this.#pages.current
    this.#meanwhile = []
    const changes = await this.#source.changes(version, base, most).catch((error: unknown) => {
      this.#pages.failed()
      this.#meanwhile = undefined
      throw error
    })
    const isLast = changes.list.length < most
    this.#tellTime(changes.nowUs / 1000, askedMs)
    // From the start: all that is known here may be gone there.
    if (changes.since === 0) this.#next = new OverrideCopy(changes.version)
    const copy = this.#next ?? this.#copy
    copy.add(changes, isLast, this.#redisClock)
    for (const { level, key, limits, untilMs, version } of this.#meanwhile) {
      if (version > changes.version) copy.set(level, key, limits, untilMs, this.#redisClock)
    }
    this.#meanwhile = undefined
    this.#pages.read(performance.now() - sentMs, !isLast)
    if (!isLast) return false
    this.#copy = copy
    this.#next = undefined
    this.#knownMs = askedMs
    return true
  }

  /** Redis's time is that of a moment between the question and now. What is known of its clock stays, if it fits. */
  #tellTime(redisMs: number, askedMs: number): void {
    this.#aheadMs = Math.min(redisMs - askedMs, Math.max(redisMs - this.#clock.now(), this.#aheadMs))
  }
}
