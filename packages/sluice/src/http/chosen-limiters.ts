import { type AsyncLimiter, createLimiter, type Limiter, type SharedStoreOptions } from '../limiter/index.js'
import { blockForOption, checkStoreName, onFailureOption, storeOption } from '../limiter/store-option.js'
import { type Limit, parseLimit } from '../limits/index.js'
import type { AsyncStore, SyncStore } from '../stores/index.js'
import type { LimitOptions } from './guard-options.js'

type ChosenOptions = Omit<SharedStoreOptions<SyncStore | AsyncStore>, 'limit'>

/** How many limits are remembered by their text. */
const MOST_REMEMBERED = 1_000

/**
 * The limiters of a guard whose limit is a function of the request. All of them have one name and one store, so a key keeps
 * its state when its numbers change. Example: a client that used 40 of 100 a day and moves to 1,000 a day has 960 left.
 */
export class ChosenLimiters {
  readonly #options: ChosenOptions
  readonly store: SyncStore | AsyncStore
  /** By frozen limits, as the functions that make limits return them. A database may return other objects, which may change. */
  readonly #byLimit = new WeakMap<object, Limiter | AsyncLimiter>()
  readonly #byText = new Map<string, Limiter | AsyncLimiter>()

  /** A wrong option shows now, and not with the first request. */
  constructor(options: Pick<LimitOptions<never, never>, 'name' | 'store' | 'clock' | 'onFailure' | 'blockFor'>) {
    const { name = options.store === undefined ? 'default' : undefined, onFailure, blockFor } = options
    checkStoreName(name, 'limits')
    const store = storeOption(options)
    this.store = store
    onFailureOption(onFailure, store)
    blockForOption(blockFor, store)
    this.#options = { name, store, onFailure, blockFor } as ChosenOptions
  }

  /** The limiter of a limit, which may be wrong: it comes from a function of the application. */
  of(limit: Limit): Limiter | AsyncLimiter {
    const known = this.#byLimit.get(limit)
    if (known !== undefined) return known
    const limiter = this.#byTextOf(parseLimit(limit))
    if (Object.isFrozen(limit)) this.#byLimit.set(limit, limiter)
    return limiter
  }

  #byTextOf(limit: Limit): Limiter | AsyncLimiter {
    const text = JSON.stringify(limit)
    const limiter = this.#byText.get(text) ?? createLimiter({ ...this.#options, limit })
    // The state is in the store, so a limiter can be forgotten at any time.
    if (this.#byText.size >= MOST_REMEMBERED) this.#byText.clear()
    this.#byText.set(text, limiter)
    return limiter
  }
}
