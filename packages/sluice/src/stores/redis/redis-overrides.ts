// Imported, so that a test that replaces the global timers does not stop reading.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Clock } from '../../clock.js'
import { invalidValue } from '../../errors.js'
import type { Limit } from '../../limits/index.js'
import { within } from '../deadline.js'
import type { Awaitable, OverrideEntry, Overrides } from '../store.js'
import { Batch, type Reply } from './batch.js'
import { type FailureReason, type Failures, ForeignState, unavailable } from './failures.js'
import type { Link } from './link.js'
import { OverrideCopy, type StoredOverride } from './override-copy.js'
import { PageSize } from './page-size.js'

// Held for the same reason.
const { performance } = globalThis

/** The copy is read again when it is this old. When it is twice as old, a request waits for the answer. */
const REFRESH_MS = 1_000
/** Reading a page is given up after this long, or after a decision's deadline if that is longer. */
const PATIENCE_MS = 10_000

/**
 * The overrides of one policy: kept in Redis, with a copy in this process. A decision uses the copy. About once a second
 * a decision has the copy brought up to date in the background. There is no timer: the first request after a long pause
 * waits for the changes.
 *
 * Changes are read page by page. If a page fails, the next reading goes on from there. No request waits longer than the
 * store's deadline; `refresh` says whether the copy is up to date.
 */
export class RedisOverrides implements Overrides {
  readonly #link: Link
  readonly #keys: readonly string[]
  readonly #deadlineMs: number
  readonly #failures: Failures
  readonly #clock: Clock
  readonly #pages: PageSize
  #copy = new OverrideCopy()
  /** A copy that is being read from the start. It replaces the other copy when it is complete. */
  #next: OverrideCopy | undefined
  /** How far the clock of Redis is ahead of this process's. */
  #aheadMs = 0
  /** The copy has everything that was set until this time. */
  #knownMs = -Infinity
  #triedMs = -Infinity
  #isReading = false
  /** Resolves when the reading or its deadline ends, with whether the copy is up to date. */
  #waiting: Promise<boolean> | undefined
  /** Overrides that this process set while a page was under way. The page may not have them. */
  #meanwhile: StoredOverride[] | undefined
  readonly #redisClock: Clock = { now: () => this.#clock.now() + this.#aheadMs }

  /** `keys` are those of `KeyLayout.ofOverrides`. */
  constructor(link: Link, keys: readonly string[], deadlineMs: number, failures: Failures, clock: Clock) {
    this.#link = link
    this.#keys = keys
    this.#deadlineMs = deadlineMs
    this.#failures = failures
    this.#clock = clock
    this.#pages = new PageSize(deadlineMs)
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

  /** Waits like a decision. Rejects with a `StoreUnavailableError` if Redis does not answer. */
  async set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs?: number): Promise<void> {
    const name = `${level}/${key.toWellFormed()}`
    const value = limits === undefined ? '' : JSON.stringify({ limits, untilMs })
    const endMs = untilMs === undefined ? -1 : Math.ceil(untilMs)
    const version = await this.#link.ask({
      keys: this.#keys,
      addTo: (batch) => batch.setOverride(this.#keys, name, value, endMs),
      read: (reply) => (reply.isDone() ? reply.number() : new ForeignState([this.#keys[0]])),
      fail: (reason, error) => Promise.reject(unavailable('the override may not have been changed', reason, error)),
    })
    if (version === 0) throw invalidValue('until', 'a time that is still to come, by the clock of Redis', untilMs)
    const override = { name, version, value }
    for (const copy of [this.#copy, this.#next]) copy?.set(override, this.#redisClock)
    this.#meanwhile?.push(override)
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
    const isAway = this.#link.isAway(this.#keys[0])
    const known = this.#read()
    if (isAway) return
    this.#waiting = within(this.#deadlineMs, known, () => false).finally(() => {
      this.#waiting = undefined
    })
  }

  /** Reads pages until the copy is up to date; resolves with false if a page fails. */
  async #read(): Promise<boolean> {
    this.#isReading = true
    try {
      while (!(await this.#readPage())) {}
      return true
    } catch {
      return false
    } finally {
      this.#isReading = false
    }
  }

  /** Reads the next page; resolves with whether the copy is up to date. */
  async #readPage(): Promise<boolean> {
    const askedMs = this.#clock.now()
    const sentMs = performance.now()
    const { version, base } = this.#next ?? this.#copy
    const most = this.#pages.current
    const meanwhile: StoredOverride[] = []
    this.#meanwhile = meanwhile
    const changes = await this.#changes(version, base, most).finally(() => {
      this.#meanwhile = undefined
    })
    const isLast = changes.list.length < most
    this.#tellTime(changes.nowUs / 1000, askedMs)
    // The page begins at the start: Redis may have lost overrides that this process knows.
    if (changes.since === 0) this.#next = new OverrideCopy(changes.version)
    const copy = this.#next ?? this.#copy
    const own = meanwhile.filter((override) => override.version > changes.version)
    for (const override of [...changes.list, ...own]) copy.set(override, this.#redisClock)
    copy.version = isLast ? changes.version : changes.list[most - 1].version
    this.#pages.read(performance.now() - sentMs, !isLast)
    if (!isLast) return false
    this.#copy = copy
    this.#next = undefined
    this.#knownMs = askedMs
    return true
  }

  /**
   * Reads the changes after a version, `most` at most; lua/overrides.lua says what `base` is. No decision waits for the
   * answer, so it may come later than a decision's. Failures are counted with those of decisions.
   */
  async #changes(since: number, base: number, most: number): Promise<Changes> {
    const batch = new Batch()
    batch.overrideChanges(this.#keys, since, most, base)
    const patienceMs = Math.max(PATIENCE_MS, this.#deadlineMs)
    let reason: FailureReason = 'error'
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reason = 'deadline'
        reject(new Error(`Redis did not answer within ${patienceMs} ms`))
      }, patienceMs).unref()
    })
    try {
      const reply = await Promise.race([this.#link.runAlone(batch), late])
      if (reply.isDone()) return readChanges(reply)
      reason = 'foreign'
      throw new ForeignState(this.#keys)
    } catch (error) {
      this.#pages.failed()
      this.#failures.count(reason, error)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** The time of Redis is that of some moment between `askedMs` and now. Keeps the known difference if it agrees. */
  #tellTime(redisMs: number, askedMs: number): void {
    this.#aheadMs = Math.min(redisMs - askedMs, Math.max(redisMs - this.#clock.now(), this.#aheadMs))
  }
}

/** A page of changes, oldest first. */
interface Changes {
  /** Redis's time when it answered. */
  readonly nowUs: number
  /** The latest version at that time. */
  readonly version: number
  /** The page begins after this version: the version that was asked for, or 0 if the reader has to start over. */
  readonly since: number
  readonly list: readonly StoredOverride[]
}

function readChanges(reply: Reply): Changes {
  const [version, since, count] = [reply.number(), reply.number(), reply.number()]
  const list = Array.from({ length: count }, () => ({
    name: reply.text(),
    version: reply.number(),
    value: reply.text(),
  }))
  return { nowUs: reply.nowUs, version, since, list }
}
