/** Limiters: what an application calls. */
export { createLimiter, type LimiterOn, type OwnStoreOptions, type SharedStoreOptions } from './create-limiter.js'
export { createLimiters, type LimitersOptions } from './create-limiters.js'
export type { AsyncLease, Lease } from './lease.js'
export type {
  AcquireOptions,
  AsyncLimiter,
  AsyncReservation,
  BlockOptions,
  CostOptions,
  Limiter,
  PromptLimiter,
  Reservation,
  ReserveOptions,
  SetOptions,
  Timed,
  TimedBy,
} from './limiter.js'
