import type { Clock } from '../../clock.js'
import { invalidValue } from '../../errors.js'
import type { Limit } from '../../limits/index.js'
import { OverrideTable } from '../override-table.js'
import type { OverrideEntry, SyncOverrides } from '../store.js'

export class MemoryOverrides implements SyncOverrides {
  readonly #clock: Clock
  readonly #table = new OverrideTable()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#table.size
  }

  get(level: string, key: string): readonly Limit[] | undefined {
    return this.#table.get(level, key, this.#clock)
  }

  entries(): Iterable<OverrideEntry> {
    return this.#table.entries(this.#clock.now())
  }

  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs = Infinity): void {
    if (untilMs <= this.#clock.now()) throw invalidValue('until', 'a time that is still to come', untilMs)
    if (limits === undefined) this.#table.remove(level, key)
    else this.#table.set(level, key, limits, untilMs, this.#clock)
  }

  refresh(): true {
    return true
  }
}
