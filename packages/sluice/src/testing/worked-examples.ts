/**
 * Worked examples of five articles on rate limiting, as data: a series of requests and the answers that a limit gives.
 * Their numbers are those of the articles. Where an article describes an example in words only, the numbers follow from it.
 */
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from '../limits/index.js'

/** Requests of one key at one time, and the expected answers. */
export interface WorkedStep {
  /** Milliseconds since the example began. */
  readonly atMs: number
  /** How many requests of cost 1 arrive at once. Default 1. */
  readonly requests?: number
  /** How many of the requests are allowed. */
  readonly allowed: number
  /** Units left after the last request. */
  readonly remaining?: number
  /** The wait that the last request is told, if it is denied. */
  readonly retryAfterMs?: number
  /** Leaky bucket: the delay of the last request that is allowed. */
  readonly delayMs?: number
}

/** A limit, the time at which its example begins, and the steps. */
export interface WorkedExample {
  readonly name: string
  readonly limit: Limit
  /** Epoch milliseconds. */
  readonly startMs: number
  readonly steps: readonly WorkedStep[]
}

/** A midnight (UTC), at which a minute, an hour and a day begin. */
const MIDNIGHT = 1_745_020_800_000
const TEN_HOURS = 36_000_000

/** Limits that give nothing. */
const NOTHING: readonly Limit[] = [
  tokenBucket({ capacity: 0, refill: '5/s' }),
  leakyBucket({ capacity: 0, drain: '5/s' }),
  fixedWindow({ quota: 0, window: '1m' }),
  slidingWindow({ quota: 0, window: '1m' }),
  slidingLog({ quota: 0, window: '1m' }),
  concurrency({ max: 0 }),
]

/** Worked examples of articles on rate limiting. Every store must give their decisions. */
export const workedExamples: readonly WorkedExample[] = [
  {
    name: 'article 000: a burst of 100 at once, then 10 a second',
    limit: tokenBucket({ capacity: 100, refill: '10/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 101, allowed: 100, remaining: 0, retryAfterMs: 100 },
      { atMs: 1_000, requests: 11, allowed: 10, remaining: 0, retryAfterMs: 100 },
      { atMs: 2_000, requests: 11, allowed: 10, remaining: 0 },
      { atMs: 12_000, requests: 101, allowed: 100, remaining: 0 },
    ],
  },
  {
    name: 'article 000: a leaky bucket lets a burst out at its constant rate and denies requests that overflow',
    limit: leakyBucket({ capacity: 100, drain: '10/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 1, allowed: 1, delayMs: 0 },
      { atMs: 0, requests: 101, allowed: 99, delayMs: 9_900, remaining: 0, retryAfterMs: 100 },
      { atMs: 100, requests: 1, allowed: 1, delayMs: 9_900 },
    ],
  },
  {
    name: 'article 001: a token bucket of r = 10, b = 20, moment by moment',
    limit: tokenBucket({ capacity: 20, refill: '10/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 20, allowed: 20, remaining: 0 },
      { atMs: 50, allowed: 0, remaining: 0, retryAfterMs: 50 },
      { atMs: 100, allowed: 1, remaining: 0 },
      { atMs: 200, allowed: 1, remaining: 0 },
      { atMs: 1_000, requests: 8, allowed: 8, remaining: 0 },
      { atMs: 2_000, requests: 11, allowed: 10, remaining: 0, retryAfterMs: 100 },
    ],
  },
  {
    name: 'article 001: a fixed window lets twice its quota through around a boundary',
    limit: fixedWindow({ quota: 100, window: '1m' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 59_000, requests: 101, allowed: 100, remaining: 0, retryAfterMs: 1_000 },
      { atMs: 60_000, requests: 101, allowed: 100, remaining: 0, retryAfterMs: 60_000 },
    ],
  },
  {
    name: 'article 001: a sliding window weighs the previous window by its share that is still inside',
    limit: slidingWindow({ quota: 100, window: '1m' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 59_000, requests: 100, allowed: 100, remaining: 0 },
      // weight 1: the boundary frees nothing
      { atMs: 60_000, allowed: 0, remaining: 0, retryAfterMs: 600 },
      // weight 1 - 15/60: 100 * 0.75 + 0 = 75
      { atMs: 75_000, requests: 26, allowed: 25, remaining: 0, retryAfterMs: 600 },
      // weight 1 - 30/60: 100 * 0.5 + 25 = 75
      { atMs: 90_000, requests: 26, allowed: 25, remaining: 0 },
      // a whole window later: 50 * (1 - 30/60) = 25
      { atMs: 150_000, requests: 76, allowed: 75, remaining: 0 },
    ],
  },
  {
    name: 'article 001: a sliding log never has more than its quota in any minute',
    limit: slidingLog({ quota: 100, window: '1m' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 59_000, requests: 100, allowed: 100, remaining: 0 },
      { atMs: 60_000, allowed: 0, remaining: 0, retryAfterMs: 59_000 },
      { atMs: 118_999, allowed: 0, remaining: 0, retryAfterMs: 1 },
      { atMs: 119_000, requests: 101, allowed: 100, remaining: 0 },
    ],
  },
  {
    name: 'article 001: five e-mails an hour, r = 5/3600, b = 5',
    limit: tokenBucket({ capacity: 5, refill: '5/3600s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 6, allowed: 5, remaining: 0, retryAfterMs: 720_000 },
      { atMs: 719_999, allowed: 0, retryAfterMs: 1 },
      { atMs: 720_000, allowed: 1, remaining: 0 },
      { atMs: 720_000 + 3_600_000, requests: 6, allowed: 5 },
    ],
  },
  {
    name: 'article 002: 1,000 in 1,000 ms with ten slices',
    limit: slidingWindow({ quota: 1_000, window: '1s', slices: 10 }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 600, allowed: 600, remaining: 400 },
      { atMs: 950, requests: 401, allowed: 400, remaining: 0, retryAfterMs: 51 },
      // the slice of 0 to 100 ms is leaving: half of its 600 are still inside
      { atMs: 1_050, requests: 301, allowed: 300, remaining: 0 },
      // it has left; the 400 of 950 ms and the 300 of 1,050 ms count in full
      { atMs: 1_100, requests: 301, allowed: 300, remaining: 0 },
    ],
  },
  {
    name: 'article 002: a leaky bucket of 1,000 that leaves once a millisecond',
    limit: leakyBucket({ capacity: 1_000, drain: '1/ms' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 1_001, allowed: 1_000, delayMs: 999, remaining: 0, retryAfterMs: 1 },
      { atMs: 1, allowed: 1, delayMs: 999 },
    ],
  },
  {
    name: 'article 004: capacity 20, 5 a second, request by request',
    limit: tokenBucket({ capacity: 20, refill: '5/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, allowed: 1, remaining: 19 },
      { atMs: 0, allowed: 1, remaining: 18 },
      { atMs: 0, requests: 18, allowed: 18, remaining: 0 },
      { atMs: 0, allowed: 0, remaining: 0, retryAfterMs: 200 },
      { atMs: 1_000, allowed: 1, remaining: 4 },
    ],
  },
  {
    name: 'article 004: ten idle hours at 5 a second bring 20 tokens, not 180,000',
    limit: tokenBucket({ capacity: 20, refill: '5/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 20, allowed: 20, remaining: 0 },
      { atMs: TEN_HOURS, requests: 21, allowed: 20, remaining: 0, retryAfterMs: 200 },
    ],
  },
  {
    name: 'article 004: 3 tokens at T = 1745000100, a full bucket less one at T = 1745000145',
    limit: tokenBucket({ capacity: 20, refill: '5/s' }),
    startMs: 1_745_000_100_000,
    steps: [
      { atMs: 0, requests: 17, allowed: 17, remaining: 3 },
      { atMs: 45_000, allowed: 1, remaining: 19 },
    ],
  },
  {
    name: 'article 004: /search, a burst of 100 and 10 a second',
    limit: tokenBucket({ capacity: 100, refill: '10/s' }),
    startMs: MIDNIGHT,
    steps: [{ atMs: 0, requests: 101, allowed: 100, remaining: 0, retryAfterMs: 100 }],
  },
  {
    name: 'article 004: /login, five attempts and 0.08 a second',
    limit: tokenBucket({ capacity: 5, refill: '0.08/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 6, allowed: 5, remaining: 0, retryAfterMs: 12_500 },
      { atMs: 12_499, allowed: 0, retryAfterMs: 1 },
      { atMs: 12_500, allowed: 1, remaining: 0 },
    ],
  },
  {
    name: 'article 004: /payment, three attempts and 0.016 a second',
    limit: tokenBucket({ capacity: 3, refill: '0.016/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 4, allowed: 3, remaining: 0, retryAfterMs: 62_500 },
      { atMs: 62_500, allowed: 1, remaining: 0 },
    ],
  },
  {
    name: 'a log admits its quota, where the log of article 002 admits one more',
    limit: slidingLog({ quota: 1_000, window: '1s' }),
    startMs: MIDNIGHT,
    steps: [{ atMs: 0, requests: 1_001, allowed: 1_000, remaining: 0, retryAfterMs: 1_000 }],
  },
  {
    name: 'a request takes a whole token, where article 004 admits it at any fraction of one',
    limit: tokenBucket({ capacity: 1, refill: '1/s' }),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, allowed: 1, remaining: 0 },
      { atMs: 500, allowed: 0, remaining: 0, retryAfterMs: 500 },
      { atMs: 999, allowed: 0, remaining: 0, retryAfterMs: 1 },
      { atMs: 1_000, allowed: 1, remaining: 0 },
    ],
  },
  ...NOTHING.map((limit) => ({
    name: `a ${limit.algorithm} of 0 admits nothing, now or later`,
    limit,
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 2, allowed: 0, remaining: 0, retryAfterMs: Infinity },
      { atMs: TEN_HOURS, allowed: 0, remaining: 0, retryAfterMs: Infinity },
    ],
  })),
  {
    name: 'an unlimited key is always admitted, and always has as much left',
    limit: unlimited(),
    startMs: MIDNIGHT,
    steps: [
      { atMs: 0, requests: 1_000, allowed: 1_000, remaining: Infinity, delayMs: 0 },
      { atMs: 1, allowed: 1, remaining: Infinity, delayMs: 0 },
    ],
  },
]
