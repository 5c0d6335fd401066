import type { Clock } from '../../clock.js'
import { warn } from '../../errors.js'
import { type Limit, parseLimit } from '../../limits/index.js'
import { OverrideTable } from '../override-table.js'
import type { Changes } from './override-source.js'

/** A copy of a policy's overrides, read from Redis page by page. */
export class OverrideCopy {
  readonly table = new OverrideTable()
  /** This copy has every change up to this version. */
  version = 0
  readonly #startedAt: number

  /** `startedAt` is the version of Redis when reading from the start began. */
  constructor(startedAt = 0) {
    this.#startedAt = startedAt
  }

  /** Up to this version no removal can have been missed: overrides that were cleared before the start were never read. */
  get base(): number {
    return Math.max(this.#startedAt, this.version)
  }

  /** Adds a page. After the last page, the copy has everything that Redis had when it answered. */
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
      // A later version of this library may have written it.
      this.table.remove(level, key)
      warn(`the override of ${name} cannot be read and is left out: ${error}`, 'SLUICE_OVERRIDE')
    }
  }
}
