import type { Clock } from '../../clock.js'
import { invalidValue } from '../../errors.js'
import type { Limit } from '../../limits/index.js'
import type { Awaitable, OverrideEntry, Overrides } from '../store.js'
import { Deadlines, type Expiring } from './deadlines.js'
import { OverrideCopy } from './override-copy.js'
import type { OverrideSource } from './override-source.js'

// Held, so that a test that replaces the global does not stop reading.
const { performance } = globalThis

/** The copy is read again when it is this old. When it is twice as old, a request waits for the answer. */
const REFRESH_MS = 1_000

/** The smallest and the largest page, in overrides. */
const LEAST_PAGE = 10
const MOST_PAGE = 500

/** An override that this process has set. */
interface OwnChange {
  readonly level: string
  readonly key: string
  readonly limits: readonly Limit[] | undefined
  readonly untilMs: number | undefined
  readonly version: number
}

/** A reading that is under way. Requests wait for it until its deadline. */
interface Reading extends Expiring {
  /** 1 until it has ended. */
  open: number
  /** Lets the waiting requests go on. */
  end(isKnown: boolean): void
}

/**
 * The overrides of one policy: kept in Redis, with a copy in this process. A decision uses the copy. About once a second
 * a decision has the copy brought up to date in the background. There is no timer: the first request after a long pause
 * waits for the changes.
 *
 * Changes are read page by page. If a page fails, the next reading goes on from there. No request waits longer than the
 * store's deadline; `refresh` says whether the copy is up to date.
 */
export class RedisOverrides implements Overrides {
  readonly #source: OverrideSource
  readonly #clock: Clock
  readonly #pages: PageSize
  readonly #deadlines: Deadlines<Reading>
  #copy = new OverrideCopy()
  /** A copy that is being read from the start. It replaces the other copy when it is complete. */
  #next: OverrideCopy | undefined
  /** How far the clock of Redis is ahead of this process's. */
  #aheadMs = 0
  /** The copy has everything that was set until this time. */
  #knownMs = -Infinity
  #triedMs = -Infinity
  #isReading = false
  /** Resolves when the reading ends, with whether the copy is up to date. */
  #waiting: Promise<boolean> | undefined
  /** Overrides that this process set while a page was under way. The page may not have them. */
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

  /** Until the first copy is complete, the overrides that have been read so far apply. */
  get(level: string, key: string): readonly Limit[] | undefined {
    const limits = this.#copy.table.get(level, key, this.#redisClock)
    return limits === undefined && this.#isFirst ? this.#next?.table.get(level, key, this.#redisClock) : limits
  }

  *entries(): Generator<OverrideEntry, undefined> {
    const nowMs = this.#redisClock.now()
    const { table } = this.#copy
    yield* table.entries(nowMs)
    if (!this.#isFirst || this.#next === undefined) return
    for (const entry of this.#next.table.entries(nowMs))
      if (table.get(entry.level, entry.key, this.#redisClock) === undefined) yield entry
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
    const reading: Reading = { open: 1, endsMs: 0, end }
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

  /** Reads pages until the copy is up to date; resolves with false if a page fails. */
  async #read(): Promise<boolean> {
    try {
      while (!(await this.#readPage())) {}
      return true
    } catch {
      return false
    }
  }

  /** Reads the next page; resolves with whether the copy is up to date. */
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
    // The page begins at the start: Redis may have lost overrides that this process knows.
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

  /** The time of Redis is that of some moment between `askedMs` and now. Keeps the known difference if it agrees. */
  #tellTime(redisMs: number, askedMs: number): void {
    this.#aheadMs = Math.min(redisMs - askedMs, Math.max(redisMs - this.#clock.now(), this.#aheadMs))
  }
}

/**
 * How many overrides to ask for at once. A page delays the decisions behind it, on the same connection and in this
 * process. So it should take at most an eighth of their deadline longer than an empty answer, which is estimated by the
 * quickest answer. A page that takes longer or fails halves the size; a page that takes less than half of that doubles it.
 *
 * For example, with a deadline of 50 ms a page may take 6 ms more than the quickest answer. At 200 KB/s that is about ten
 * overrides. On a link that takes 100 ms for any answer it is the largest page.
 */
export class PageSize {
  readonly #budgetMs: number
  #quickestMs = Infinity
  /** Small at first: the quickest answer must be close to an empty one, or a slow link would look like a far one. */
  current = LEAST_PAGE

  constructor(deadlineMs: number) {
    this.#budgetMs = deadlineMs / 8
  }

  /** Asking for a page and reading it took `tookMs`. A page that was not full says nothing about larger ones. */
  read(tookMs: number, isFull: boolean): void {
    // The quickest answer fades: a link may become slower for good.
    const drifted = this.#quickestMs + (tookMs - this.#quickestMs) / 16
    this.#quickestMs = Number.isFinite(drifted) ? Math.min(tookMs, drifted) : tookMs
    const overMs = tookMs - this.#quickestMs
    if (overMs > this.#budgetMs) this.failed()
    else if (isFull && overMs < this.#budgetMs / 2) this.current = Math.min(MOST_PAGE, this.current * 2)
  }

  failed(): void {
    this.current = Math.max(LEAST_PAGE, Math.floor(this.current / 2))
  }
}
