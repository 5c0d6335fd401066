import type { Decision } from '../limits/index.js'
import type { Answer, AsyncStore, Demand, SyncStore } from '../stores/index.js'
import { type Place, placeOf } from './place.js'

/**
 * A place of a `concurrency` limit, held until it is released, or until `endsAtMs` if nobody does. A denial is a value:
 * `allowed` is false, and nothing is held.
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
export interface Lease {
  readonly decision: Decision
  readonly allowed: boolean
  /** When it ends by itself, in epoch milliseconds by the store's clock. Nothing, if nothing is held any more. */
  readonly endsAtMs: number | undefined
  /** Gives the place back. Only the first call does; after the lease has ended, none does. */
  release(): void
  /**
   * Holds the place for another `ttl` from now. False if it is lost: it had ended or was released before, or the key is
   * blocked or in debt. Then whoever works on does so without a place.
   */
  extend(): boolean
  /** `release`, at the end of a block that says `using`. */
  [Symbol.dispose](): void
}

/** See {@link Lease}. */
export interface AsyncLease {
  readonly decision: Decision
  readonly allowed: boolean
  readonly endsAtMs: number | undefined
  release(): Promise<void>
  /**
   * See {@link Lease.extend}. The place is given back and taken again by two calls of the store in the same turn, which on
   * Redis are nearly always one call of the script. Where a process has thousands of calls under way they may be two, and if
   * somebody comes between, the place is lost.
   */
  extend(): Promise<boolean>
  /** `release`, at the end of a block that says `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The lease of what a demand took by an answer, if it did. `freed` is told when it is one no more. */
export class SyncLease implements Lease {
  readonly decision: Decision
  readonly #store: SyncStore
  readonly #demand: Demand
  readonly #freed: () => void
  #place: Place | undefined

  constructor(store: SyncStore, demand: Demand, answer: Answer, freed: () => void) {
    this.decision = answer.decisions[0]
    this.#store = store
    this.#demand = demand
    this.#freed = freed
    this.#place = placeOf(demand, answer)
  }

  get allowed(): boolean {
    return this.decision.allowed
  }

  get endsAtMs(): number | undefined {
    return this.#place?.endsAtMs
  }

  release(): void {
    if (this.#place === undefined) return
    this.#refund()
    this.#freed()
  }

  extend(): boolean {
    const before = this.#place
    if (before === undefined) return false
    this.#refund()
    this.#place = placeOf(this.#demand, this.#store.decide([this.#demand]))
    if (this.#place?.isAfter(before)) this.#refund()
    if (this.#place === undefined) this.#freed()
    return this.#place !== undefined
  }

  [Symbol.dispose](): void {
    this.release()
  }

  #refund(): void {
    const place = this.#place
    this.#place = undefined
    if (place !== undefined) this.#store.refund(this.#demand, place.taken)
  }
}

/** The same on a store that answers later. */
export class StoreLease implements AsyncLease {
  readonly decision: Decision
  readonly #store: AsyncStore
  readonly #demand: Demand
  readonly #freed: () => void
  #place: Place | undefined
  /** One call after the other: what is given back while it is taken anew would be given back twice. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: AsyncStore, demand: Demand, answer: Answer, freed: () => void) {
    this.decision = answer.decisions[0]
    this.#store = store
    this.#demand = demand
    this.#freed = freed
    this.#place = placeOf(demand, answer)
  }

  get allowed(): boolean {
    return this.decision.allowed
  }

  get endsAtMs(): number | undefined {
    return this.#place?.endsAtMs
  }

  release(): Promise<void> {
    return this.#next(async () => {
      if (this.#place === undefined) return
      await this.#refund()
      this.#freed()
    })
  }

  extend(): Promise<boolean> {
    return this.#next(async () => {
      const before = this.#place
      if (before === undefined) return false
      const [given, answered] = await Promise.allSettled([this.#refund(), this.#store.decide([this.#demand])])
      if (answered.status === 'rejected') {
        if (given.status === 'rejected') this.#place = before
        else this.#freed()
        throw answered.reason
      }
      this.#place = placeOf(this.#demand, answered.value)
      if (this.#place?.isAfter(before)) await this.#refund()
      if (this.#place === undefined) this.#freed()
      return this.#place !== undefined
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  async #refund(): Promise<void> {
    const place = this.#place
    this.#place = undefined
    if (place !== undefined) await this.#store.refund(this.#demand, place.taken)
  }

  #next<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run)
    this.#last = result.catch(() => {})
    return result
  }
}
