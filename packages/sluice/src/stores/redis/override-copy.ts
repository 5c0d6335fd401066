import type { Clock } from '../../clock.js'
import { warn } from '../../errors.js'
import { parseLimit } from '../../limits/index.js'
import { OverrideTable } from '../override-table.js'

/** An override as Redis keeps it. */
export interface StoredOverride {
  /** `level/key`. */
  readonly name: string
  readonly version: number
  /** JSON of the limits and the end in epoch milliseconds, or `''` if the override was removed. */
  readonly value: string
}

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

  set({ name, value }: StoredOverride, clock: Clock): void {
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
