import type { Decision, Duration, Limit } from '../limits/index.js'
import type { AsyncLease, Lease } from './lease.js'

/** What a call may say besides its key. */
export interface CostOptions {
  /** Units the request takes: a safe integer from 0. Default 1. */
  readonly cost?: number
}

/** How a call may wait. */
export interface AcquireOptions extends CostOptions {
  /** Who waits no longer when it is aborted; the promise is rejected with the signal's reason, and nothing is taken. */
  readonly signal?: AbortSignal | undefined
  /** Who has no units after so long is rejected; one of whom that is known before does not even wait. Default: forever. */
  readonly maxWaitMs?: number | undefined
}

/** What a block must say. */
export interface BlockOptions {
  /** How long: `'10m'`, or milliseconds. */
  readonly duration: Duration
}

/** A limit over keys, on a store that answers at once: every method returns its value. */
export interface Limiter {
  readonly name: string
  readonly limit: Limit
  /** Takes `cost` units if all of them are there, and says so. A denial is a value, and takes nothing. */
  tryAcquire(key: string, options?: CostOptions): Decision
  /**
   * Waits until `cost` units are there, and takes them. Those who wait for a key in this limiter get theirs in the order in
   * which they came, whatever their costs; `tryAcquire` does not queue and may overtake them. Of a leaky bucket it takes a
   * slot and waits for that too, so `delayMs` is 0.
   *
   * Never resolves with a denial. Rejects with a `WaitTooLongError` at once when the cost is more than the limit can ever
   * give or the wait is known to be longer than `maxWaitMs`, and when `maxWaitMs` is over; with the signal's reason when that
   * is aborted. Then nothing was taken, or it is given back: of a leaky bucket that helps only if nobody took a slot since.
   *
   * @example
   * ```ts
   * import { createLimiter, tokenBucket } from 'sluice'
   *
   * const api = createLimiter({ limit: tokenBucket({ capacity: 10, refill: '5/s' }) })
   *
   * export async function fetchPage(url: string) {
   *   await api.acquire('example.com', { maxWaitMs: 10_000, signal: AbortSignal.timeout(30_000) })
   *   return fetch(url)
   * }
   * ```
   */
  acquire(key: string, options?: AcquireOptions): Promise<Decision>
  /**
   * How things stand: what `tryAcquire` would say to a cost of 0. Takes nothing. Ask `remaining`; `allowed` is true even
   * when nothing is left, and false only while the key is blocked or in debt.
   */
  peek(key: string): Decision
  /** Takes `cost` units whether they are there or not, and may leave a debt: a penalty, or a cost known too late. */
  charge(key: string, options?: CostOptions): Decision
  /** Gives `cost` units back, never beyond the whole quota. A window takes back only what it gave. */
  refund(key: string, options?: CostOptions): Decision
  /** Forgets the key: its whole quota is there, and it is not blocked. */
  reset(key: string): void
  /** Denies the key everything for a while, whatever its quota. A later block replaces an earlier one. */
  block(key: string, options: BlockOptions): void
  /** Takes an estimated cost now; the reservation settles the real one later. */
  reserve(key: string, options?: CostOptions): Reservation
  /** Takes a place of a `concurrency` limit for as long as the work lasts. */
  lease(key: string, options?: CostOptions): Lease
  /** The same, and waits for a place as `acquire` does: whoever is given one has it. */
  acquireLease(key: string, options?: AcquireOptions): Promise<Lease>
}

/** A limit over keys, on a store that answers later: every method returns a promise. */
export interface AsyncLimiter {
  readonly name: string
  readonly limit: Limit
  /** See {@link Limiter.tryAcquire}. */
  tryAcquire(key: string, options?: CostOptions): Promise<Decision>
  /**
   * See {@link Limiter.acquire}. What other processes give back is not announced: whoever waits here asks again when the
   * units would have come anyway. A store that fails rejects whoever it was asked for.
   */
  acquire(key: string, options?: AcquireOptions): Promise<Decision>
  /** See {@link Limiter.peek}. */
  peek(key: string): Promise<Decision>
  /** See {@link Limiter.charge}. */
  charge(key: string, options?: CostOptions): Promise<Decision>
  /** See {@link Limiter.refund}. */
  refund(key: string, options?: CostOptions): Promise<Decision>
  /** See {@link Limiter.reset}. */
  reset(key: string): Promise<void>
  /** See {@link Limiter.block}. */
  block(key: string, options: BlockOptions): Promise<void>
  /** See {@link Limiter.reserve}. */
  reserve(key: string, options?: CostOptions): Promise<AsyncReservation>
  /** See {@link Limiter.lease}. */
  lease(key: string, options?: CostOptions): Promise<AsyncLease>
  /**
   * See {@link Limiter.acquireLease}. What other processes release is looked for, at most a hundred times a second and less
   * and less often, down to four times.
   */
  acquireLease(key: string, options?: AcquireOptions): Promise<AsyncLease>
}

/**
 * Units taken before their real number is known. Only the first call of `settle` or `cancel` counts; without any, the
 * units stay taken; after a denial both do nothing.
 */
export interface Reservation {
  readonly decision: Decision
  /** The real cost: gives back what was too much, charges what was too little. */
  settle(actual: number): void
  /** Gives everything back: the same as a real cost of 0. */
  cancel(): void
}

/** See {@link Reservation}. */
export interface AsyncReservation {
  readonly decision: Decision
  settle(actual: number): Promise<void>
  cancel(): Promise<void>
}
