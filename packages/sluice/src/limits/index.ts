/**
 * `sluice/limits`: the algorithms as pure arithmetic. No clock, no timer, no I/O, nothing of Node: it runs in a browser
 * as it is.
 */
export type { Arithmetic, Report, Taken, Twin, Words } from './arithmetic.js'
export { ALGORITHMS, arithmeticOf, parseLimit, withQuota } from './arithmetic-of.js'
export { type ConcurrencyOptions, concurrency, isConcurrency } from './concurrency.js'
export { blockedDecision, type Decision } from './decision.js'
export { type Duration, durationText, durationUs } from './duration.js'
export { evaluate, type LimitState } from './evaluate.js'
export { type FixedWindowOptions, fixedWindow } from './fixed-window.js'
export { fullerView } from './fuller-view.js'
export { type LeakyBucketOptions, leakyBucket } from './leaky-bucket.js'
export type {
  Algorithm,
  Alignment,
  Concurrency,
  FixedWindow,
  LeakyBucket,
  Limit,
  SlidingLog,
  SlidingWindow,
  TokenBucket,
} from './limit.js'
export { microseconds } from './microseconds.js'
export { mixed } from './mixed-bucket.js'
export { quotaOf } from './quota-of.js'
export { parseRate, type Rate } from './rate.js'
export { shareOf } from './share-of.js'
export { type SlidingLogOptions, slidingLog } from './sliding-log.js'
export { type SlidingWindowOptions, slidingWindow } from './sliding-window.js'
export { type TokenBucketOptions, tokenBucket } from './token-bucket.js'
