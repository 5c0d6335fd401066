import type { Limit } from '../limits/index.js'
import type { OverrideEntry, Overrides } from './store.js'
import { type Awaitable, isPromiseLike } from './store.js'

/**
 * Overrides of a store that may fail. If reading fails, calls `failed`, which may throw; if it returns, the overrides known
 * so far count. If setting or listing fails, that stays an error, because no answer can stand for it.
 */
export class FallbackOverrides implements Overrides {
  readonly #overrides: Overrides
  readonly #failed: (error: unknown) => void

  constructor(overrides: Overrides, failed: (error: unknown) => void) {
    this.#overrides = overrides
    this.#failed = failed
  }

  get size(): number {
    return this.#read(() => this.#overrides.size) ?? 0
  }

  get(level: string, key: string): readonly Limit[] | undefined {
    return this.#read(() => this.#overrides.get(level, key))
  }

  entries(): Iterable<OverrideEntry> {
    return this.#overrides.entries()
  }

  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs: number | undefined): Awaitable<void> {
    return this.#overrides.set(level, key, limits, untilMs)
  }

  refresh(): Awaitable<boolean> {
    const refreshed = this.#read(() => this.#overrides.refresh()) ?? false
    if (!isPromiseLike(refreshed)) return refreshed
    return Promise.resolve(refreshed).catch((error) => {
      this.#failed(error)
      return false
    })
  }

  #read<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }
}
