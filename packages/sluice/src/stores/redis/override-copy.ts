import type { Clock } from '../../clock.js'
import { type Limit, parseLimit } from '../../limits/index.js'
import { OverrideTable } from '../overrides.js'
import type { Changes } from './override-source.js'
import { warnOfOverride } from './warnings.js'

/** A copy of a policy's overrides, read from Redis page by page. */
export class OverrideCopy {
  readonly table = new OverrideTable()
  /** Everything that was set until this version has been read. */
  version = 0
  readonly #startedAt: number

  /** A copy that is read from the start when Redis has this version. */
  constructor(startedAt = 0) {
    this.#startedAt = startedAt
  }

  /** The version up to which no removal can have been missed: one that was cleared before the start was never read. */
  get base(): number {
    return Math.max(this.#startedAt, this.version)
  }

  /** Adds a page. If it is the last, all that Redis had when it answered has been read. */
  add({ list, version }: Changes, isLast: boolean, clock: Clock): void {
    for (const { name, value } of list) this.#set(name, value, clock)
    if (isLast) this.version = version
    else this.version = list[list.length - 1].version
  }

  set(
    level: string,
    key: string,
    limits: readonly Limit[] | undefined,
    untilMs: number | undefined,
    clock: Clock,
  ): void {
    if (limits === undefined) this.table.remove(level, key)
    else this.table.set(level, key, limits, untilMs ?? Infinity, clock)
  }

  #set(name: string, value: string, clock: Clock): void {
    const slash = name.indexOf('/')
    const [level, key] = [name.slice(0, slash), name.slice(slash + 1)]
    if (value === '') {
      this.table.remove(level, key)
      return
    }
    try {
      const { limits, untilMs } = JSON.parse(value) as { limits: readonly unknown[]; untilMs?: number }
      this.table.set(level, key, limits.map(parseLimit), untilMs ?? Infinity, clock)
    } catch (error) {
      // A later version may have written it. The warning lets a reader of the log tell.
      this.table.remove(level, key)
      warnOfOverride(name, error)
    }
  }
}
