import { systemClock } from '../clock.js'
import { InvalidTypeError, shown } from '../errors.js'
import { type Decision, durationUs, microseconds, type Taken } from '../limits/index.js'
import type { Answer, AsyncStore, Demand, SyncStore } from '../stores/index.js'

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
    `lease needs a limit made by concurrency({ max, ttl }), and ${shown(name)} is a ${limit.algorithm}: ` +
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

/** What leases on every store have in common. `freed` is called when the place is held no longer. */
class PlaceLease<S> {
  readonly decision: Decision
  protected readonly store: S
  protected readonly demand: Demand
  protected readonly freed: () => void
  protected held: HeldPlace | undefined

  constructor(store: S, demand: Demand, answer: Answer, freed: () => void) {
    this.decision = answer.decisions[0]
    this.store = store
    this.demand = demand
    this.freed = freed
    this.held = heldPlace(demand, answer)
  }

  get allowed(): boolean {
    return this.decision.allowed
  }

  get endsAtMs(): number | undefined {
    return this.held && this.held.endsUs / 1_000
  }

  /** From now on no place is held. Returns the place to refund, if one was held. */
  protected letGo(): HeldPlace | undefined {
    const { held } = this
    this.held = undefined
    return held
  }
}

/** A lease on a store that answers at once. */
export class SyncLease extends PlaceLease<SyncStore> implements Lease {
  release(): void {
    if (this.held === undefined) return
    this.#refund()
    this.freed()
  }

  extend(): boolean {
    const before = this.held
    if (before === undefined) return false
    this.#refund()
    this.held = heldPlace(this.demand, this.store.decide([this.demand]))
    if (hadEnded(before, this.held)) this.#refund()
    if (this.held === undefined) this.freed()
    return this.held !== undefined
  }

  [Symbol.dispose](): void {
    this.release()
  }

  #refund(): void {
    const held = this.letGo()
    if (held !== undefined) this.store.refund(this.demand, held.taken)
  }
}

/** A lease on a store that answers later. */
export class StoreLease extends PlaceLease<AsyncStore> implements AsyncLease {
  /** Calls run one after the other: a `release` during an `extend` would refund the same place twice. */
  #last: Promise<unknown> = Promise.resolve()

  release(): Promise<void> {
    return this.#next(async () => {
      if (this.held === undefined) return
      await this.#refund()
      this.freed()
    })
  }

  extend(): Promise<boolean> {
    return this.#next(async () => {
      const before = this.held
      if (before === undefined) return false
      const [refunded, answered] = await Promise.allSettled([this.#refund(), this.store.decide([this.demand])])
      if (answered.status === 'rejected') {
        if (refunded.status === 'rejected') this.held = before
        else this.freed()
        throw answered.reason
      }
      this.held = heldPlace(this.demand, answered.value)
      if (hadEnded(before, this.held)) await this.#refund()
      if (this.held === undefined) this.freed()
      return this.held !== undefined
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  async #refund(): Promise<void> {
    const held = this.letGo()
    if (held !== undefined) await this.store.refund(this.demand, held.taken)
  }

  #next<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }
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

/** Was the new place taken only after the one before had ended? Then another holder may have had it between. */
function hadEnded(before: HeldPlace, now: HeldPlace | undefined): boolean {
  return now !== undefined && now.sinceUs >= before.endsUs
}
