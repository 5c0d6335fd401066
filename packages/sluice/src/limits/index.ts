/**
 * `sluice/limits`: the algorithms as pure arithmetic. It has no clock, timer or I/O and uses nothing of Node, so it runs in
 * a browser as it is.
 */
export type { Arithmetic, ElasticState, RemoteArithmetic, Report, Taken, Words } from './arithmetic.js'
export { ALGORITHMS, arithmeticOf, parseLimit } from './arithmetic-of.js'
export {
  type BlockFor,
  type BlockRule,
  blockForOf,
  checkBlockRule,
  type GrowingBlock,
  type KeyBlock,
  nextBlock,
  parseBlockFor,
} from './block-rule.js'
export { checkRemaining } from './check-remaining.js'
export { type ConcurrencyOptions, concurrency, isConcurrency } from './concurrency.js'
export { blockedDecision, type Decision, uncountedDenial } from './decision.js'
export { type Duration, durationText, durationUs, microseconds, parseDuration, type TimeUnit } from './duration.js'
export { evaluate, type LimitState } from './evaluate.js'
export { type FixedWindowOptions, fixedWindow } from './fixed-window.js'
export { type LeakyBucketOptions, leakyBucket } from './leaky-bucket.js'
export { leaseUs, SHORTEST_LEASE_US } from './lease-us.js'
export {
  LeasedBucket,
  type LeasedState,
  type LeaseGrant,
  type LeaseLot,
  type LeaseReturn,
  type LeaseTerms,
  LONGEST_LEASE_US,
} from './leased-bucket.js'
export { LeasedWindow } from './leased-window.js'
export {
  type Algorithm,
  type Alignment,
  type Concurrency,
  type FixedWindow,
  type LeakyBucket,
  type Limit,
  quotaOf,
  type SlidingLog,
  type SlidingWindow,
  type TokenBucket,
  type Unlimited,
} from './limit.js'
export { type ExactRate, exactRate, parseRate, type Rate } from './rate.js'
export { shareOf } from './share-of.js'
export { type SlidingLogOptions, slidingLog } from './sliding-log.js'
export { type SlidingWindowOptions, slidingWindow } from './sliding-window.js'
export { type TokenBucketOptions, tokenBucket } from './token-bucket.js'
export { isUnlimited, unlimited } from './unlimited.js'
