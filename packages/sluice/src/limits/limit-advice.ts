import { concurrency } from './concurrency.js'
import { fixedWindow } from './fixed-window.js'
import { leakyBucket } from './leaky-bucket.js'
import { slidingLog } from './sliding-log.js'
import { slidingWindow } from './sliding-window.js'
import { tokenBucket } from './token-bucket.js'
import { unlimited } from './unlimited.js'

/** The functions that make limits, each with the numbers of an example. */
const LIMIT_FUNCTIONS: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [tokenBucket, "tokenBucket({ capacity: 20, refill: '5/s' })"],
  [leakyBucket, "leakyBucket({ capacity: 50, drain: '10/s' })"],
  [fixedWindow, "fixedWindow({ quota: 100, window: '1m' })"],
  [slidingWindow, "slidingWindow({ quota: 100, window: '1m' })"],
  [slidingLog, "slidingLog({ quota: 5, window: '1h' })"],
  [concurrency, "concurrency({ max: 20, ttl: '30s' })"],
  [unlimited, 'unlimited()'],
])

/** Limits as data, by a number that only some of them have. The first that a value has is meant. */
const AS_DATA: readonly (readonly [number: string, data: string])[] = [
  ['refill', "{ algorithm: 'token-bucket', capacity: 20, refill: '5/s' }"],
  ['drain', "{ algorithm: 'leaky-bucket', capacity: 50, drain: '10/s' }"],
  ['slices', "{ algorithm: 'sliding-window', quota: 1000, window: '1s', slices: 10 }"],
  ['quota', "{ algorithm: 'fixed-window', quota: 100, window: '1m' }"],
  ['max', "{ algorithm: 'concurrency', max: 20, ttl: '30s' }"],
]

/** Whether a value is one of our functions that make limits. It makes a limit of numbers, and not of a request. */
export function isLimitFunction(value: unknown): boolean {
  return LIMIT_FUNCTIONS.has(value)
}

/** What to write instead of a value that is no limit, if the mistake is known. */
export function limitAdvice(value: unknown): string | undefined {
  if (typeof value === 'string' && value.startsWith('{')) return 'for JSON text, parseLimit(JSON.parse(text))'
  if (typeof value === 'function') return functionAdvice(value)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return dataAdvice(value)
  if (typeof value !== 'number') return undefined
  const quota = Number.isSafeInteger(value) && value > 0 ? value : 100
  return `a number does not say per what, write fixedWindow({ quota: ${quota}, window: '1m' })`
}

function functionAdvice(value: unknown): string {
  const call = LIMIT_FUNCTIONS.get(value)
  return call === undefined
    ? 'only rateLimit takes a function of the request as its limit'
    : `the function makes the limit, call it, as in ${call}`
}

function dataAdvice(value: object): string {
  const [, data] = AS_DATA.find(([number]) => Object.hasOwn(value, number)) ?? AS_DATA[0]
  return `algorithm is missing, as data a limit is written ${data}`
}
