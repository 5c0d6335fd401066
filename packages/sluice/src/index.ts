export { type Clock, systemClock } from './clock.js'
export {
  InvalidTypeError,
  InvalidValueError,
  type SluiceErrorCode,
  StoreFullError,
  StoreUnavailableError,
} from './errors.js'
export * from './limiter/index.js'
export {
  type Algorithm,
  type Alignment,
  type Decision,
  type Duration,
  type FixedWindow,
  type FixedWindowOptions,
  fixedWindow,
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
  type TokenBucket,
  type TokenBucketOptions,
  tokenBucket,
} from './limits/index.js'
export {
  type Answer,
  type AsyncStore,
  type Demand,
  MemoryStore,
  type MemoryStoreOptions,
  type MemoryStoreStats,
  memoryStore,
  type OnFailure,
  type Store,
  type SyncStore,
} from './stores/index.js'
