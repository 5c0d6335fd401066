export {
  type Address,
  addressText,
  type CidrRange,
  parseAddress,
  parseCidrRange,
  rangeContains,
} from './addresses/index.js'
export { nearest as nearestName } from './checks/nearest.js'
export { type Clock, systemClock } from './clock.js'
export type { DecidedDemand, DecisionEvent, DecisionMethod } from './diagnostics/decision-channel.js'
export {
  ClosedError,
  InvalidPolicyError,
  InvalidTypeError,
  InvalidValueError,
  type PolicyProblem,
  QueueFullError,
  type SluiceErrorCode,
  StoreFullError,
  StoreUnavailableError,
  WaitTooLongError,
} from './errors.js'
export * from './limiter/index.js'
export {
  type Algorithm,
  type Alignment,
  type BlockFor,
  type BlockRule,
  type Concurrency,
  type ConcurrencyOptions,
  concurrency,
  type Decision,
  type Duration,
  type FixedWindow,
  type FixedWindowOptions,
  fixedWindow,
  type GrowingBlock,
  type LeakyBucket,
  type LeakyBucketOptions,
  type Limit,
  leakyBucket,
  parseLimit,
  type SlidingLog,
  type SlidingLogOptions,
  type SlidingWindow,
  type SlidingWindowOptions,
  slidingLog,
  slidingWindow,
  type Taken,
  type TokenBucket,
  type TokenBucketOptions,
  tokenBucket,
} from './limits/index.js'
export * from './policy/index.js'
export * from './reservations/index.js'
export * from './shaper/index.js'
export {
  type Answer,
  type AsyncStore,
  type Awaitable,
  type Correction,
  type Degraded,
  type Demand,
  MemoryStore,
  type MemoryStoreOptions,
  type MemoryStoreStats,
  memoryStore,
  type NamedLimit,
  type OnFailure,
  type Opening,
  type OpenReservation,
  type OverrideEntry,
  type Overrides,
  type Reservations,
  type Store,
  type SyncOverrides,
  type SyncStore,
} from './stores/index.js'
