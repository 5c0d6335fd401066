/** The article on traffic control at scale: the algorithms, their tables and proofs. */
import { evaluate, fixedWindow, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice/limits'
import { trafficDraft } from '../settings/traffic-draft.js'
import { bursts, type Figure, limits, type Preset } from './preset.js'
import { figureText, outcomeText, WorkedKey } from './worked-key.js'

const ARTICLE = 'Traffic Control — Token Bucket and Leaky Bucket at Scale'
const HUNDRED_A_MINUTE = { quota: 100, window: '1m' } as const
const TWENTY = tokenBucket({ capacity: 20, refill: '10/s' })

/** Its worked examples of the algorithms. */
export const article001: readonly Preset[] = [
  {
    id: '001-boundary',
    article: ARTICLE,
    title: 'The boundary burst: 200 in 2 seconds',
    about:
      'A limit of 100 a minute. A hundred requests come just before a minute ends and a hundred just after. The fixed window lets 200 through; the others do not.',
    traffic: trafficDraft('boundary'),
    limits: limits(
      ['fixed-window', '100', '1m'],
      ['sliding-window', '100', '1m'],
      ['sliding-log', '100', '1m'],
      ['token-bucket', '100', '100/m'],
      ['leaky-bucket', '100', '100/m'],
    ),
    figures: boundaryFigures,
  },
  {
    id: '001-bucket',
    article: ARTICLE,
    title: '10 tokens a second, 20 at most',
    about:
      'The article’s table, second by second: a burst empties the bucket, half a token is not enough, and 0.8 seconds bring 8.',
    traffic: bursts('20@0 1@0.05 1@0.1 1@0.2 8@1', '3s'),
    limits: limits(['token-bucket', '20', '10/s'], ['leaky-bucket', '20', '10/s']),
    figures: bucketFigures,
  },
  {
    id: '001-smooth',
    article: ARTICLE,
    title: 'A hundred at once: burst or queue',
    about:
      'A hundred requests arrive in one instant. The token bucket passes 20 and denies 80. The leaky bucket passes all of them, ten a second.',
    traffic: bursts('100@0', '12s'),
    limits: limits(['token-bucket', '20', '10/s'], ['leaky-bucket', '100', '10/s']),
    figures: smoothFigures,
  },
  {
    id: '001-average',
    article: ARTICLE,
    title: 'Why the average holds: r · T + b',
    about:
      'Five times the rate, for ten seconds. No more than 10 · T + 20 requests pass in any time T, so the average comes down to 10 a second.',
    traffic: trafficDraft('steady', { rate: '50/s', length: '10s' }),
    limits: limits(['token-bucket', '20', '10/s'], ['token-bucket', '1', '10/s'], ['leaky-bucket', '20', '10/s']),
    figures: averageFigures,
  },
  {
    id: '001-emails',
    article: ARTICLE,
    title: 'At most 5 emails an hour',
    about:
      'An email is tried each minute. A bucket of 5 that refills 5 an hour lets more than 5 pass in the first hour; a log does not.',
    traffic: trafficDraft('steady', { rate: '1/m', length: '150m' }),
    limits: limits(['token-bucket', '5', '5/h'], ['sliding-log', '5', '1h']),
    figures: emailFigures,
  },
]

function boundaryFigures(): readonly Figure[] {
  const across = (limit: object) => {
    const key = new WorkedKey(limit)
    return { first: key.send(59.9, 100).admitted, second: key.send(60.1, 100) }
  }
  const fixed = across(fixedWindow(HUNDRED_A_MINUTE))
  const log = across(slidingLog(HUNDRED_A_MINUTE))
  const counter = across(slidingWindow(HUNDRED_A_MINUTE))
  const bucket = across(tokenBucket({ capacity: 100, refill: '100/m' }))
  const estimate = new WorkedKey(slidingWindow(HUNDRED_A_MINUTE))
  estimate.send(59.9, 100)
  const atHalf = 100 - Number(estimate.left(90))
  const header = new WorkedKey(fixedWindow(HUNDRED_A_MINUTE))
  const { last } = header.send(1_618_884_479, 101)
  const rounded = 'The library rounds the estimate up to whole requests: 100 · (1 − 0.1 / 60) = 99.83 counts as 100.'
  return [
    { what: 'Window 1: 100 requests', article: '100 allowed', ours: `${fixed.first} allowed` },
    { what: 'Window 2: 100 requests', article: '100 allowed', ours: `${fixed.second.admitted} allowed` },
    { what: 'Within 2 seconds', article: '200 requests', ours: `${fixed.first + fixed.second.admitted} requests` },
    {
      what: 'Boundary burst',
      article: '2x the limit',
      ours: `${(fixed.first + fixed.second.admitted) / 100}x the limit`,
    },
    { what: 'Sliding log: the second burst', article: '0 allowed', ours: `${log.second.admitted} allowed` },
    {
      what: 'Sliding window counter at 60.1 s: estimate 99.83, denied if count > limit',
      article: '1 allowed',
      ours: `${counter.second.admitted} allowed`,
      why: rounded,
    },
    {
      what: 'Sliding log: times kept for each request (O(n))',
      article: '1',
      ours: figureText(keptFor(100) - keptFor(99)),
    },
    { what: 'Sliding window counter at 1:30: weight 0.5, estimate', article: '50', ours: figureText(atHalf) },
    {
      what: 'Token bucket of 100: the second burst',
      article: 'no 2x burst',
      ours: bucket.second.admitted < 100 ? 'no 2x burst' : '2x burst',
    },
    { what: 'RateLimit-Limit', article: '100', ours: figureText(last.quota) },
    { what: 'RateLimit-Remaining', article: '0', ours: figureText(last.remaining) },
    { what: 'Retry-After, one second before the window ends', article: '1', ours: String(last.retryAfterMs / 1_000) },
    { what: 'RateLimit-Reset', article: '1618884480', ours: String(1_618_884_479 + last.resetAfterMs / 1_000) },
  ]
}

/** How many numbers a log keeps after so many requests. */
function keptFor(requests: number): number {
  return evaluate(slidingLog(HUNDRED_A_MINUTE), undefined, 0, requests).state?.length ?? 0
}

function bucketFigures(): readonly Figure[] {
  const key = new WorkedKey(TWENTY)
  const start = { what: 'Time 0', article: '20 tokens', ours: `${key.left(0)} tokens` }
  const row = (atS: number, what: string, article: string, count = 1) => {
    const sent = key.send(atS, count)
    return { what, article, ours: `${outcomeOf(sent.admitted, count)}, ${key.left()} tokens` }
  }
  const burst = row(0, 'Time 0.00: burst of 20', 'all allowed, 0 tokens', 20)
  const half = row(0.05, 'Time 0.05: 1 request', 'denied, 0.5 tokens')
  const whole = row(0.1, 'Time 0.10: 1 request', 'allowed, 0 tokens')
  const next = row(0.2, 'Time 0.20: 1 request', 'allowed, 0 tokens')
  const eight = { what: 'Time 1.00: after 0.8 s', article: '8 tokens', ours: `${key.left(1)} tokens` }
  const eightSent = row(1, 'Time 1.00: burst of 8', 'all allowed, 0 tokens', 8)
  const { last } = new WorkedKey(TWENTY).send(0, 20)
  return [
    start,
    burst,
    half,
    whole,
    next,
    eight,
    eightSent,
    { what: 'Time 2.00', article: '10 tokens', ours: `${key.left(2)} tokens` },
    {
      what: 'EXPIRE of an empty bucket: ceil(20 / 10) · 2',
      article: '4 s',
      ours: `${last.resetAfterMs / 1_000} s`,
      why: 'After 2 s the bucket is full and equals no bucket, so it may be forgotten then. The article keeps it twice as long.',
    },
  ]
}

function outcomeOf(admitted: number, count: number): string {
  if (count === 1) return admitted === 1 ? 'allowed' : 'denied'
  return admitted === count ? 'all allowed' : `${admitted} allowed`
}

function smoothFigures(): readonly Figure[] {
  const queue = new WorkedKey(leakyBucket({ capacity: 100, drain: '10/s' }))
  const waits = Array.from({ length: 100 }, () => queue.send(0).last.delayMs)
  const overflow = queue.send(0)
  const large = new WorkedKey(leakyBucket({ capacity: 1_000, drain: '10/s' }))
  let lastWaitMs = 0
  for (let i = 0; i < 1_000; i++) {
    const atMs = i / 1_000
    lastWaitMs = atMs + large.send(atMs / 1_000).last.delayMs
  }
  return [
    {
      what: 'Token bucket, b = 20: allowed at once',
      article: '20',
      ours: `${new WorkedKey(TWENTY).send(0, 100).admitted}`,
    },
    {
      what: 'Leaky bucket: 100 simultaneous requests are processed at',
      article: '10 a second',
      ours: `${figureText(99_000 / (waits[99] - waits[0]))} a second`,
    },
    { what: 'Leaky bucket: the queue is full', article: 'denied', ours: outcomeText(overflow) },
    {
      what: 'Leaky bucket: 1,000 requests in 1 millisecond leave at',
      article: '10 a second',
      ours: `${figureText(999_000 / lastWaitMs)} a second`,
    },
  ]
}

function averageFigures(): readonly Figure[] {
  const admittedIn = (seconds: number) => {
    const key = new WorkedKey(TWENTY)
    let admitted = 0
    for (let i = 0; i <= seconds * 50; i++) admitted += key.send(i / 50).admitted
    return admitted
  }
  return [2, 10, 100].map((seconds) => ({
    what: `Most requests in T = ${seconds} s: 10 · ${seconds} + 20`,
    article: figureText(10 * seconds + 20),
    ours: figureText(admittedIn(seconds)),
  }))
}

function emailFigures(): readonly Figure[] {
  const admittedInAnHour = (limit: object) => {
    const key = new WorkedKey(limit)
    let admitted = 0
    for (let minute = 0; minute < 60; minute++) admitted += key.send(60 * minute).admitted
    return admitted
  }
  const bucket = new WorkedKey(tokenBucket({ capacity: 5, refill: '5/h' }))
  const { last } = bucket.send(0, 6)
  return [
    { what: 'Burst: b = 5', article: '5', ours: figureText(5 - Number(bucket.left())) },
    { what: 'r = 5/3600: one more each', article: '720 s', ours: `${last.retryAfterMs / 1_000} s` },
    {
      what: 'Token bucket: emails in the first hour',
      article: 'at most 5',
      ours: figureText(admittedInAnHour(tokenBucket({ capacity: 5, refill: '5/h' }))),
      why: 'By the article’s own rule r · T + b an hour gives up to 5 + 5: five from the full bucket, and four more before the hour ends.',
    },
    {
      what: 'Sliding log of 5 an hour: emails in the first hour',
      article: '5',
      ours: figureText(admittedInAnHour(slidingLog({ quota: 5, window: '1h' }))),
    },
  ]
}
