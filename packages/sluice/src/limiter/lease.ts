import { systemClock } from '../clock.js'
import { InvalidTypeError, shown } from '../errors.js'
import { type Decision, durationUs, microseconds, type Taken } from '../limits/index.js'
import type { Answer, Awaitable, Demand, Store } from '../stores/index.js'
import { after, isPromiseLike } from '../stores/store.js'

/** A value, or the promise of one for a store that answers later. */
export type Given<Later, Value> = Later extends true ? Promise<Value> : Value

interface LeaseMethods<Later extends boolean> {
  readonly decision: Decision
  readonly allowed: boolean
  /** When the lease ends by itself, in epoch milliseconds by the store's clock. `undefined` if no place is held. */
  readonly endsAtMs: number | undefined
  /** Gives the place back. The first call takes effect; later calls, and calls after the lease has ended, do nothing. */
  release(): Given<Later, void>
  /**
   * Holds the place for another `ttl` from now. Returns false if the place is lost: the lease had ended or was released, or
   * the key is blocked or in debt. Work that goes on then holds no place.
   *
   * A store that answers later gets two calls in the same turn of the event loop: one gives the place back, the other takes
   * it again. On Redis these are nearly always one call of the script. If a process has thousands of calls under way they
   * may be two, and then another client may take the place between them: the place is lost.
   */
  extend(): Given<Later, boolean>
}

/**
 * A place of a `concurrency` limit. It is held until `release`, or until `endsAtMs` if that comes first. A denial is a
 * value: `allowed` is false, and no place is held.
 *
 * @example
 * ```ts
 * import { concurrency, createLimiter } from 'sluice'
 *
 * const exports = createLimiter({ limit: concurrency({ max: 3, ttl: '5m' }) })
 *
 * function exportAll(user: string): string {
 *   using lease = exports.lease(user)
 *   return lease.allowed ? 'exported' : 'busy'
 * }
 * ```
 */
export interface Lease extends LeaseMethods<false> {
  /** `release`, at the end of a block that says `using`. */
  [Symbol.dispose](): void
}

/** The same on a store that answers later. See {@link Lease}. */
export interface AsyncLease extends LeaseMethods<true> {
  /** `release`, at the end of a block that says `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Throws if the limit has no places to hold. */
export function checkHasPlaces({ name, limit }: Demand): void {
  if (limit.algorithm === 'concurrency') return
  throw new InvalidTypeError(
    `lease needs a limit made by concurrency({ max, ttl }), and that of ${shown(name)} is ${limit.algorithm}: ` +
      'to take units now and settle them later, use reserve',
    { option: 'limit' },
  )
}

/** A place that a demand took. */
interface HeldPlace {
  readonly taken: Taken
  readonly sinceUs: number
  readonly endsUs: number
}

/** What leases on every store have in common. Methods return promises on a store that answers later. */
class PlaceLease {
  readonly decision: Decision
  readonly #store: Store
  readonly #demand: Demand
  readonly #freed: () => void
  #held: HeldPlace | undefined
  /** Calls run one after the other: a `release` during an `extend` would refund the same place twice. */
  #last: Promise<unknown> | undefined

  /** `freed` is called when the place is held no longer. */
  constructor(store: Store, demand: Demand, answer: Answer, freed: () => void) {
    this.decision = answer.decisions[0]
    this.#store = store
    this.#demand = demand
    this.#freed = freed
    this.#held = heldPlace(demand, answer)
    this.#last = store.synchronous === true ? undefined : Promise.resolve()
  }

  get allowed(): boolean {
    return this.decision.allowed
  }

  get endsAtMs(): number | undefined {
    return this.#held && this.#held.endsUs / 1_000
  }

  release(): Awaitable<void> {
    return this.#next(() => (this.#held === undefined ? undefined : after(this.#refund(this.#held), this.#freed)))
  }

  extend(): Awaitable<boolean> {
    return this.#next(() => {
      const before = this.#held
      if (before === undefined) return false
      const refunded = this.#refund(before)
      const answer = this.#store.decide([this.#demand])
      return isPromiseLike(answer) ? this.#extendLater(before, refunded, answer) : this.#extend(before, answer)
    })
  }

  async #extendLater(before: HeldPlace, refund: Awaitable<unknown>, decide: Promise<Answer>): Promise<boolean> {
    const [refunded, answered] = await Promise.allSettled([refund, decide])
    if (answered.status === 'fulfilled') return this.#extend(before, answered.value)
    if (refunded.status === 'rejected') this.#held = before
    else this.#freed()
    throw answered.reason
  }

  #extend(before: HeldPlace, answer: Answer): Awaitable<boolean> {
    const held = heldPlace(this.#demand, answer)
    // If the new place was taken only after the one before had ended, another holder may have had it between.
    const isKept = held !== undefined && held.sinceUs < before.endsUs
    if (isKept) this.#held = held
    return after(isKept || held === undefined ? undefined : this.#refund(held), () => {
      if (!isKept) this.#freed()
      return isKept
    })
  }

  /** From now on no place is held. */
  #refund({ taken }: HeldPlace): Awaitable<unknown> {
    this.#held = undefined
    return this.#store.refund(this.#demand, taken)
  }

  #next<T>(run: () => Awaitable<T>): Awaitable<T> {
    if (this.#last === undefined) return run()
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }
}

class SyncLease extends PlaceLease {
  [Symbol.dispose](): void {
    this.release()
  }
}

class StoreLease extends PlaceLease {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}

/** Makes a `Lease` if the store is synchronous, otherwise an `AsyncLease`. */
export function makeLease(
  ...[store, demand, answer, freed]: ConstructorParameters<typeof PlaceLease>
): Lease | AsyncLease {
  const OneLease = store.synchronous === true ? SyncLease : StoreLease
  return new OneLease(store, demand, answer, freed) as Lease | AsyncLease
}

/** The place that a demand took, if the answer allowed it. */
function heldPlace({ limit, cost }: Demand, { allowed, decisions, takenUs }: Answer): HeldPlace | undefined {
  if (!allowed || limit.algorithm !== 'concurrency') return undefined
  const [{ delayMs, degraded }] = decisions
  const taken = { atUs: takenUs[0], cost, delayMs, degraded }
  // With `onFailure: 'open'` no store was asked, and the answer has no time.
  const sinceUs = degraded === 'open' ? microseconds(systemClock.now()) : taken.atUs
  return { taken, sinceUs, endsUs: sinceUs + durationUs('ttl', limit.ttl) }
}
