import type { Clock } from '../../clock.js'
import { invalidValue } from '../../errors.js'
import { type Limit, parseLimit } from '../../limits/index.js'
import { type Overrides, OverrideTable } from '../overrides.js'
import type { OverrideQuestion } from './override-call.js'
import type { Reply } from './reply.js'
import { warnOfOverride } from './warnings.js'

/** What is known may be this old before it is asked for again, and twice as old before a request waits for the answer. */
const REFRESH_MS = 1_000
/** How many are read with one call. */
const PAGE = 1_000

interface Changes {
  readonly nowUs: number
  readonly version: number
  /** From which version on; 0 is from the start. */
  readonly since: number
  readonly list: readonly { readonly name: string; readonly version: number; readonly value: string }[]
}

/**
 * The overrides of one policy, kept in Redis and known here: who decides looks at what is known, and asks for what has
 * changed about once a second. There is no timer: whoever comes after a long pause waits for the news.
 */
export class RedisOverrides implements Overrides {
  readonly #keys: readonly string[]
  readonly #ask: <T>(question: OverrideQuestion<T>) => Promise<T>
  readonly #clock: Clock
  #table = new OverrideTable()
  #version = 0
  /** How far Redis's clock is ahead of ours. */
  #aheadMs = 0
  #knownMs = -Infinity
  #triedMs = -Infinity
  #refreshing: Promise<void> | undefined
  readonly #redisClock: Clock = { now: () => this.#clock.now() + this.#aheadMs }

  constructor(keys: readonly string[], clock: Clock, ask: <T>(question: OverrideQuestion<T>) => Promise<T>) {
    this.#keys = keys
    this.#clock = clock
    this.#ask = ask
  }

  get size(): number {
    return this.#table.size
  }

  get(level: string, key: string): readonly Limit[] | undefined {
    return this.#table.get(level, key, this.#redisClock)
  }

  async set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs?: number): Promise<void> {
    const value = limits === undefined ? '' : JSON.stringify({ limits, untilMs })
    const name = `${level}/${key.toWellFormed()}`
    const isDone = await this.#ask({
      verb: 'changed',
      addTo: (batch) => batch.setOverride(this.#keys, name, value, untilMs === undefined ? -1 : Math.ceil(untilMs)),
      read: (reply) => reply.number() > 0,
    })
    if (!isDone) throw invalidValue('until', 'a time that is still to come, by the clock of Redis', untilMs)
    if (limits === undefined) this.#table.remove(level, key)
    else this.#table.set(level, key, limits, untilMs ?? Infinity, this.#redisClock)
  }

  refresh(): Promise<void> | undefined {
    const nowMs = this.#clock.now()
    const age = nowMs - this.#knownMs
    if (age < REFRESH_MS) return undefined
    if (this.#refreshing === undefined && nowMs - this.#triedMs >= REFRESH_MS) {
      this.#triedMs = nowMs
      this.#refreshing = this.#refresh(nowMs).finally(() => {
        this.#refreshing = undefined
      })
    }
    return age < 2 * REFRESH_MS ? undefined : this.#refreshing
  }

  /** If Redis does not answer, what is known has to do. The failure is counted with those of decisions. */
  async #refresh(nowMs: number): Promise<void> {
    try {
      let table = this.#table
      let version = this.#version
      for (let readsOn = false; ; readsOn = true) {
        const changes = await this.#changesSince(version, readsOn)
        // From the start: whatever is known may be gone there.
        if (changes.since === 0 && !readsOn) table = new OverrideTable()
        this.#aheadMs = changes.nowUs / 1000 - this.#clock.now()
        for (const change of changes.list) apply(table, change, this.#redisClock)
        if (changes.list.length < PAGE) {
          this.#version = changes.version
          break
        }
        version = changes.list[PAGE - 1].version
      }
      this.#table = table
      this.#knownMs = nowMs
    } catch {}
  }

  #changesSince(since: number, readsOn: boolean): Promise<Changes> {
    return this.#ask({
      verb: 'read',
      addTo: (batch) => batch.overrideChanges(this.#keys, since, PAGE, readsOn),
      read: readChanges,
    })
  }
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

function apply(table: OverrideTable, { name, value }: Changes['list'][number], clock: Clock): void {
  const slash = name.indexOf('/')
  const [level, key] = [name.slice(0, slash), name.slice(slash + 1)]
  if (value === '') {
    table.remove(level, key)
    return
  }
  try {
    const { limits, untilMs } = JSON.parse(value) as { limits: readonly unknown[]; untilMs?: number }
    table.set(level, key, limits.map(parseLimit), untilMs ?? Infinity, clock)
  } catch (error) {
    // Written by a later version, perhaps. Whoever reads the log can tell.
    table.remove(level, key)
    warnOfOverride(name, error)
  }
}
