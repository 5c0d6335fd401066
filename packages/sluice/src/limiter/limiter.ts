import type { Decision, Duration, Limit } from '../limits/index.js'
import type { AsyncLease, Given, Lease } from './lease.js'

/** The cost of a call. */
export interface CostOptions {
  /** Units the request takes: a safe integer from 0. Default 1. */
  readonly cost?: number
}

/** How much to reserve, and for how long. With a `ttl`, any process that shares the store can settle the reservation. */
export interface ReserveOptions<Ttl extends Duration | undefined = Duration | undefined> extends CostOptions {
  /** The units come back after this long, unless the reservation is settled or cancelled before: `'30s'`. */
  readonly ttl?: Ttl | undefined
  /**
   * Names the reservation: any non-empty string. While a reservation of this id is open, `reserve` returns it and takes
   * nothing, so a call may be repeated. Only with a `ttl`. Default: a random one.
   */
  readonly id?: string | undefined
}

/** A reservation with a `ttl` has these too. */
export interface Timed {
  /** For `settle` and `cancel` of the limiter or policy, in any process that shares the store. */
  readonly id: string
  /** When it ends by itself, in epoch milliseconds by the store's clock. `undefined` after a denial. */
  readonly endsAtMs: number | undefined
}

/** What a `ttl` adds to a reservation. */
export type TimedBy<Ttl> = Ttl extends Duration ? Timed : unknown

/** How a call of `acquire` waits. */
export interface AcquireOptions extends CostOptions {
  /** When it is aborted, the caller stops waiting: the promise is rejected with its reason, and nothing is taken. */
  readonly signal?: AbortSignal | undefined
  /** Rejects after so many milliseconds, or at once if the wait is known to be longer. Default: waits for ever. */
  readonly maxWaitMs?: number | undefined
}

/** What `set` leaves to a key. */
export interface SetOptions {
  /** How many units are left afterwards: a whole number from 0 to the quota. */
  readonly remaining: number
}

/** How long a block lasts. */
export interface BlockOptions {
  /** How long: `'10m'`. */
  readonly duration: Duration
}

/** The methods of a limiter. `Later` is true for a store that answers later: then every method returns a promise. */
interface LimiterMethods<Later extends boolean> {
  readonly name: string
  readonly limit: Limit
  /** Takes `cost` units if all of them are there. A denial is a value, and takes nothing. */
  tryAcquire(key: string, options?: CostOptions): Given<Later, Decision>
  /**
   * Waits until `cost` units are there, and takes them. Callers that wait for the same key in this limiter are served in
   * the order in which they came, whatever their costs. `tryAcquire` does not queue and may overtake them. For a leaky
   * bucket it takes a slot and waits until that comes, so `delayMs` is 0.
   *
   * Never resolves with a denial. Rejects with a `WaitTooLongError` when `maxWaitMs` is over; at once if the wait is known
   * to be longer, or if the cost is more than the limit can ever give. Rejects with the signal's reason when the signal is
   * aborted, and with a `QueueFullError` at once if `maxWaiters` callers wait already. A caller that is rejected has taken
   * nothing, or its units are given back. A leaky bucket takes back only its last slot.
   *
   * A limiter is not told of units that other processes give back: its callers ask again when the units would have come
   * anyway. If the store fails, the caller that it was asked for is rejected.
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
   * Says what `tryAcquire` would say now, and takes nothing. `allowed`, `retryAfterMs` and `delayMs` are those of `cost`;
   * `remaining`, `nextUnitAfterMs` and `resetAfterMs` describe the key as it stands. With 2 units left, a cost of 1 is
   * allowed and `remaining` is 2. Never blocks a key: with `blockFor`, `retryAfterMs` is the wait for the units alone.
   *
   * Another request may come between a `peek` and a `tryAcquire`. To take what is there, call `tryAcquire` at once.
   */
  peek(key: string, options?: CostOptions): Given<Later, Decision>
  /**
   * Takes `cost` units even if they are not there, and may leave a debt: a penalty, or a cost known too late. Returns what
   * `peek(key)` says afterwards.
   */
  charge(key: string, options?: CostOptions): Given<Later, Decision>
  /**
   * Gives `cost` units back, up to the whole quota. A window takes back only units that it gave. Returns what `peek(key)` says
   * afterwards.
   */
  refund(key: string, options?: CostOptions): Given<Later, Decision>
  /**
   * Leaves the key exactly `remaining` units, as if the rest of the quota had just been taken from a fresh key. A block of
   * the key stays. Returns what `peek(key)` says afterwards. Throws for a `concurrency` limit, whose leases cannot be set, and a
   * `StoreFullError` if a memory store has no room for the key.
   */
  set(key: string, options: SetOptions): Given<Later, Decision>
  /** Forgets the key: its whole quota is there, and it is not blocked. */
  reset(key: string): Given<Later, void>
  /** Denies the key everything for a while, whatever its quota. A later block replaces an earlier one. */
  block(key: string, options: BlockOptions): Given<Later, void>
  /**
   * Takes an estimated cost now; the reservation settles the real cost later. With a `ttl` it ends by itself, and other
   * processes can settle it by its `id`.
   */
  reserve<Ttl extends Duration | undefined = undefined>(
    key: string,
    options?: ReserveOptions<Ttl>,
  ): Given<Later, (Later extends true ? AsyncReservation : Reservation) & TimedBy<Ttl>>
  /**
   * Settles the real cost of a reservation with a `ttl`, and ends it. True if this call ended it; false if it was over, and
   * then nothing changes. If the store fails, the call throws, and may be repeated.
   */
  settle(id: string, actual: number): Given<Later, boolean>
  /** Gives back everything that a reservation with a `ttl` took. True if this call ended it. */
  cancel(id: string): Given<Later, boolean>
  /** Takes a place of a `concurrency` limit for as long as the work lasts. */
  lease(key: string, options?: CostOptions): Given<Later, Later extends true ? AsyncLease : Lease>
  /**
   * Waits for a place as `acquire` does, and takes it. The limiter looks for places that other processes release, at most
   * 100 times a second, and less and less often down to 4 times a second.
   */
  acquireLease(key: string, options?: AcquireOptions): Promise<Later extends true ? AsyncLease : Lease>
}

/** A limit over keys, on a store that answers at once: every method returns its value, except those that wait. */
export interface Limiter extends LimiterMethods<false> {}

/** A limit over keys, on a store that answers later: every method returns a promise. See {@link Limiter}. */
export interface AsyncLimiter extends LimiterMethods<true> {}

/** A limit over keys, on a store that decides many requests in this process, such as `leasedStore`. */
export interface PromptLimiter extends AsyncLimiter {
  /**
   * Decides as `tryAcquire` does, if this process can do so without asking the store. Otherwise returns `undefined`, and
   * has taken nothing: then call `tryAcquire`.
   */
  tryAcquireNow(key: string, options?: CostOptions): Decision | undefined
}

/**
 * Units that were taken before their real number is known. The first `settle` or `cancel` takes effect; later calls are
 * ignored. If neither is called, the units stay taken; with a `ttl` they come back when it is over. After a denial, both do
 * nothing.
 */
interface ReservationMethods<Later extends boolean> {
  readonly decision: Decision
  /**
   * Settles the real cost: gives back what was too much, or charges what was too little. True if this call ended the
   * reservation; false if it was over, and then nothing changes: after its `ttl`, `charge` a cost that must count.
   */
  settle(actual: number): Given<Later, boolean>
  /** Gives everything back, as a real cost of 0 does. True if this call ended the reservation. */
  cancel(): Given<Later, boolean>
}

/** See {@link ReservationMethods}. */
export interface Reservation extends ReservationMethods<false> {}

/** See {@link ReservationMethods}. */
export interface AsyncReservation extends ReservationMethods<true> {}
