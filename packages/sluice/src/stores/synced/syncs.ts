import { type Clock, setQuietAlarm } from '../../clock.js'
import type { Decision } from '../../limits/index.js'
import type { AsyncStore } from '../store.js'
import type { SyncedKey } from './synced-key.js'
import type { Views } from './views.js'

/** An interval lasts at least this share of its longest time. */
const SHORTEST = 0.8
/** So many calls are under way at most, so that requests which ask the store find room beside them. */
const MOST_UNDERWAY = 250
/** When so many are left, the next ones are made together. */
const FEW_UNDERWAY = MOST_UNDERWAY / 2

/**
 * Tells the store what this process has taken, and learns what the store has. When the interval ends, each key in use makes
 * one call: it charges its unreported units or, if there are none, looks. Up to 250 of these calls are made in one turn, so
 * that the store can send them together. More wait for answers, and the next interval begins with the last call. One alarm
 * serves all keys, and there is none while no key is in use.
 *
 * A report without an answer may have been counted or not. Its units stay unreported and are charged again: then the store
 * may count them twice, which is too strict, but it never misses them. A look must be answered first, so that a store which
 * counts and does not answer gets no more reports.
 */
export class Syncs {
  readonly counts = { syncs: 0, calls: 0, failures: 0 }
  longestGapMs = 0
  readonly #store: AsyncStore
  readonly #views: Views
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #random: () => number
  readonly #due = new Set<SyncedKey>()
  /** The keys that are still to be synced after the interval that has ended. `undefined` while an interval lasts. */
  #waiting: Iterator<SyncedKey> | undefined
  /** Has a call been made since the last interval ended? */
  #hasCalled = false
  #underway = 0
  #stopAlarm: (() => void) | undefined
  #nowMs = 0

  /** `random` gives numbers from 0 to 1. The store must answer its failures by `onFailure`. */
  constructor(store: AsyncStore, views: Views, clock: Clock, intervalMs: number, random: () => number) {
    this.#store = store
    this.#views = views
    this.#clock = clock
    this.#intervalMs = intervalMs
    this.#random = random
  }

  /** The time in epoch milliseconds. Never steps back. */
  get nowMs(): number {
    const nowMs = this.#clock.now()
    if (nowMs > this.#nowMs) this.#nowMs = nowMs
    return this.#nowMs
  }

  /** For how long a key in use has not been renewed, at most. */
  get oldestViewMs(): number {
    const { nowMs } = this
    let oldestMs = 0
    for (const { sinceMs } of this.#due) oldestMs = Math.max(oldestMs, nowMs - sinceMs)
    return oldestMs
  }

  /** The key is in use: its next sync comes when the interval ends. */
  use(key: SyncedKey): void {
    key.isUsed = true
    if (key.isDue) return
    key.isDue = true
    key.sinceMs = this.nowMs
    this.#due.add(key)
    if (this.#stopAlarm === undefined) this.#setAlarm()
  }

  /** Reports a key now. Resolves when the store has answered, or failed to. */
  async report(key: SyncedKey): Promise<void> {
    while (key.call !== undefined) await key.call
    await this.#sync(key, key.unreported)
  }

  /** Runs a change of a key's state in the store while no sync of the key is under way. */
  async alone<T>(keys: readonly SyncedKey[], change: () => Promise<T>): Promise<T> {
    for (let busy = keys.find(isBusy); busy !== undefined; busy = keys.find(isBusy)) await busy.call
    const changed = change()
    const call = changed.then(ignore, ignore)
    for (const key of keys) key.call = call
    try {
      return await changed
    } finally {
      for (const key of keys) {
        key.call = undefined
        this.use(key)
      }
    }
  }

  /** Reports all keys once more, and ends the alarm. */
  async close(): Promise<void> {
    this.#stopAlarm?.()
    // A closed store sets no alarm.
    this.#stopAlarm = ignore
    this.#waiting = undefined
    const keys = [...this.#due]
    await Promise.all(keys.map((key) => key.call))
    const unreported = keys.filter((key) => key.unreported > 0)
    for (let i = 0; i < unreported.length; i += MOST_UNDERWAY)
      await Promise.all(unreported.slice(i, i + MOST_UNDERWAY).map((key) => this.report(key)))
    this.#due.clear()
  }

  #setAlarm(): void {
    const waitMs = this.#intervalMs * (SHORTEST + (1 - SHORTEST) * this.#random())
    this.#stopAlarm = setQuietAlarm(this.#clock, this.#clock.now() + waitMs, () => this.#ring())
  }

  #ring(): void {
    this.#waiting = [...this.#due].values()
    this.#hasCalled = false
    this.#syncWaiting()
  }

  /** Syncs the keys that wait while there is room. After the last one the next interval begins. */
  #syncWaiting(): void {
    while (this.#waiting !== undefined && this.#underway < MOST_UNDERWAY) {
      const { value: key } = this.#waiting.next()
      if (key === undefined) {
        this.#waiting = undefined
        this.#stopAlarm = undefined
        if (this.#due.size > 0) this.#setAlarm()
      } else if (key.call === undefined) this.#syncOrForget(key)
    }
  }

  #syncOrForget(key: SyncedKey): void {
    if (!key.isUsed && key.unreported === 0) {
      this.#forget(key)
      return
    }
    key.isUsed = false
    if (!this.#hasCalled) this.counts.syncs++
    this.#hasCalled = true
    void this.#sync(key, key.isUnsure ? 0 : key.unreported)
  }

  #forget(key: SyncedKey): void {
    key.isDue = false
    this.#due.delete(key)
  }

  #sync(key: SyncedKey, units: number): Promise<void> {
    const call = this.#exchange(key, units)
    key.call = call
    return call
  }

  async #exchange(key: SyncedKey, units: number): Promise<void> {
    const { version } = key
    const asked = this.#views.look(key)
    const unsent = key.unreported - units
    const sentMs = this.nowMs
    this.counts.calls++
    key.sending = units
    if (units > 0) key.sentUs = Math.round(sentMs * 1_000)
    this.#underway++
    const answer = await this.#ask(key, units).catch(ignore)
    this.#underway--
    if (this.#underway === FEW_UNDERWAY) this.#syncWaiting()
    key.sending = 0
    key.call = undefined
    if (answer === undefined || answer.degraded !== undefined) {
      this.counts.failures++
      key.isUnsure ||= units > 0
      return
    }
    key.isUnsure = false
    key.unreported -= units
    if (key.version !== version) return
    this.longestGapMs = Math.max(this.longestGapMs, this.nowMs - key.sinceMs)
    key.sinceMs = sentMs
    key.asOfMs = sentMs
    this.#views.learn(key, answer, asked, unsent)
  }

  /** Charges units, or looks. The rule makes a failure show in `degraded`, and counts nothing in this process for it. */
  async #ask({ name, limit, key }: SyncedKey, units: number): Promise<Decision | undefined> {
    const demand = { name, limit, key, onFailure: 'closed' } as const
    if (units > 0) return this.#store.charge({ ...demand, cost: units })
    return (await this.#store.peek([{ ...demand, cost: 1 }])).decisions[0]
  }
}

function isBusy({ call }: SyncedKey): boolean {
  return call !== undefined
}

function ignore(): undefined {}
