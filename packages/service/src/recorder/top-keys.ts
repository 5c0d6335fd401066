import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { DecisionEvent } from 'sluice'
import { ALL_LEVELS } from '../live/live-sample.js'
import { firstKeys, KEYS_OF_A_WORKER, type KeysOfLevel } from '../live/merge-keys.js'
import { type CountedKey, hashOf, mergedKeys, SpaceSaving } from './space-saving.js'

/** Counters for each level, for requests and again for denials: the error is at most 1/128 of them. */
const COUNTERS = 128
const MOST_LEVELS = 100
/** So many more if they are wanted: as many as clients can listen. */
const MOST_WANTED = 64
/** Counts cover this long at least, and twice as long at most. */
const WINDOW_MS = 60_000
/** Longer keys are cut, so that a client cannot fill the memory with them. */
const LONGEST_KEY = 256

/** The most frequent keys of one level. */
export interface LevelTopKeys {
  readonly policy: string
  readonly level: string
  /** Requests that asked this level since `sinceMs`, and how many of them it denied. */
  readonly requests: number
  readonly denials: number
  /** The keys with the most requests, the first one most. `count` is too large by at most `error`. */
  readonly byLoad: readonly CountedKey[]
  /** The keys with the most denials. Those of a shadow level count, too. */
  readonly byDenials: readonly CountedKey[]
}

/** The most frequent keys of every level. */
export interface TopKeysReading {
  /** Requests from then on are counted, in epoch milliseconds: one to two minutes ago. */
  readonly sinceMs: number
  readonly levels: readonly LevelTopKeys[]
}

/** What a level's keys did in one window. */
class KeyWindow {
  readonly load = new SpaceSaving(COUNTERS)
  readonly denials = new SpaceSaving(COUNTERS)
}

interface TrackedLevel {
  readonly policy: string
  readonly level: string
  /** Is it followed only because it was wanted? */
  readonly isExtra: boolean
  current: KeyWindow
  last: KeyWindow
}

/**
 * Finds the keys with the most requests and the most denials, for each level of a policy. Its memory is bounded: at most
 * 100 levels and 64 that are wanted, each with four sketches of 128 keys, whatever the number of keys.
 */
export class TopKeys {
  #wanted: readonly string[] = []
  /** The levels that were wanted at any time since the last turn. */
  #lately = new Set<string>()
  /** By policy, then by level. */
  readonly #policies = new Map<string, Map<string, TrackedLevel>>()
  readonly #hear = (event: unknown) => this.#count(event as DecisionEvent)
  #size = 0
  #currentSinceMs: number
  #lastSinceMs: number

  constructor(nowMs: number) {
    this.#currentSinceMs = nowMs
    this.#lastSinceMs = nowMs
    subscribe('sluice:decision', this.#hear)
  }

  /** Levels that are followed even if 100 others are, until a turn in whose window they were not wanted. */
  set wanted(levels: readonly string[]) {
    this.#wanted = levels
    for (const level of levels) this.#lately.add(level)
  }

  /** Begins a new window if the current one is over. Called about once a second. */
  turn(nowMs: number): void {
    if (nowMs - this.#currentSinceMs < WINDOW_MS) return
    this.#lastSinceMs = this.#currentSinceMs
    this.#currentSinceMs = nowMs
    for (const [policy, levels] of this.#policies) {
      for (const [level, tracked] of levels) {
        tracked.last = tracked.current
        tracked.current = new KeyWindow()
        // A level that a reload removed gives its place to others, and so does one that is no longer wanted.
        if (tracked.last.load.total > 0 && (!tracked.isExtra || this.#lately.has(level))) continue
        levels.delete(level)
        this.#size--
      }
      if (levels.size === 0) this.#policies.delete(policy)
    }
    this.#lately = new Set(this.#wanted)
  }

  /** The first `most` keys of each level. */
  read(most = 20): TopKeysReading {
    const levels = [...this.#policies.values()].flatMap((each) => [...each.values()])
    return {
      sinceMs: Math.round(this.#lastSinceMs),
      levels: levels.map(({ policy, level, current, last }) => ({
        policy,
        level,
        requests: current.load.total + last.load.total,
        denials: current.denials.total + last.denials.total,
        byLoad: firstOf(mergedKeys(current.load, last.load), most),
        byDenials: firstOf(mergedKeys(current.denials, last.denials), most),
      })),
    }
  }

  /** The first keys of one level of a policy, or of all its levels together. */
  ofLevel(policy: string, level: string): KeysOfLevel {
    const known = this.#policies.get(policy)
    const chosen = [...(known?.values() ?? [])].filter((each) => level === ALL_LEVELS || each.level === level)
    const first = (kind: 'load' | 'denials') => {
      const lists = chosen.map(({ level: of, current, last }) =>
        firstKeys(
          mergedKeys(current[kind], last[kind]).map((each) => ({ level: of, ...each })),
          KEYS_OF_A_WORKER,
        ),
      )
      const rest = Math.max(0, ...lists.map((each) => each.rest))
      return firstKeys(
        lists.flatMap(({ keys }) => keys),
        KEYS_OF_A_WORKER,
        rest,
      )
    }
    return { level, sinceMs: Math.round(this.#lastSinceMs), byLoad: first('load'), byDenials: first('denials') }
  }

  close(): void {
    unsubscribe('sluice:decision', this.#hear)
  }

  #count({ kind, name, demands, decisions }: DecisionEvent): void {
    if (kind !== 'policy' || decisions.length === 0) return
    const levels = this.#policies.get(name)
    let lastKey = ''
    let hash = 0
    for (let i = 0; i < demands.length; ) {
      const { level = '', key: stateKey, levelKey: key = stateKey } = demands[i]
      let isDenied = false
      // A level with several limits has several demands in a row, and counts once.
      do if (!decisions[i].allowed) isDenied = true
      while (++i < demands.length && demands[i].level === level)
      const tracked = levels?.get(level) ?? this.#newLevel(name, level)
      if (tracked === undefined) continue
      const text = key.length <= LONGEST_KEY ? key : cut(key)
      // Levels often have the same key.
      if (text !== lastKey) hash = hashOf(text)
      lastKey = text
      tracked.current.load.add(text, hash)
      if (isDenied) tracked.current.denials.add(text, hash)
    }
  }

  /** `undefined` if there are too many levels. */
  #newLevel(policy: string, level: string): TrackedLevel | undefined {
    const isExtra = this.#size >= MOST_LEVELS
    if (isExtra && (this.#size >= MOST_LEVELS + MOST_WANTED || !this.#wanted.includes(level))) return undefined
    const levels = this.#policies.get(policy) ?? new Map<string, TrackedLevel>()
    this.#policies.set(policy, levels)
    const known = levels.get(level)
    if (known !== undefined) return known
    this.#size++
    const tracked = { policy, level, isExtra, current: new KeyWindow(), last: new KeyWindow() }
    levels.set(level, tracked)
    return tracked
  }
}

function firstOf(keys: CountedKey[], most: number): readonly CountedKey[] {
  // Keys whose counts are sure come before those whose counts may be inherited.
  return keys.sort((a, b) => b.count - a.count || a.error - b.error || (a.key < b.key ? -1 : 1)).slice(0, most)
}

/** The start of a long key and a hash of it. A copy, because a part of a text would keep the whole text in memory. */
function cut(key: string): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 12)
  return Buffer.from(`${key.slice(0, LONGEST_KEY - 16)}… ${hash}`).toString()
}
