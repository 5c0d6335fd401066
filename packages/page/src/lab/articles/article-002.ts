/** The article with a thousand requests a second, counted in five ways. */
import { fixedWindow, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice/limits'
import { trafficDraft } from '../settings/traffic-draft.js'
import { type Figure, limits, type Preset } from './preset.js'
import { figureText, WorkedKey } from './worked-key.js'

const ARTICLE = 'Understanding Rate Limiting: Counter, Leaky Bucket, and Token Bucket Algorithms (JD Retail Technology)'
const THOUSAND = { quota: 1_000, window: '1s' } as const

/** Its worked examples. */
export const article002: readonly Preset[] = [
  {
    id: '002-thousand',
    article: ARTICLE,
    title: '1,000 a second, five ways',
    about:
      'A thousand requests just before a second ends and a thousand just after. The fixed window lets all of them through within 100 ms; ten slices of 100 ms do not.',
    traffic: trafficDraft('boundary', { size: '1000', before: '950ms', after: '1050ms', length: '3s' }),
    limits: limits(
      ['fixed-window', '1000', '1s'],
      ['sliding-window', '1000', '1s', '10'],
      ['sliding-log', '1000', '1s'],
      ['leaky-bucket', '1000', '1/ms'],
      ['token-bucket', '1000', '1/ms'],
    ),
    figures,
  },
]

function figures(): readonly Figure[] {
  const fixed = new WorkedKey(fixedWindow(THOUSAND))
  const acrossFixed = fixed.send(0.95, 1_001).admitted + fixed.send(1.05, 1_000).admitted
  const sliced = new WorkedKey(slidingWindow({ ...THOUSAND, slices: 10 }))
  const acrossSliced = sliced.send(0.95, 1_000).admitted + sliced.send(1.05, 1_000).admitted
  const log = new WorkedKey(slidingLog(THOUSAND))
  const logged = log.send(0, 1_001)
  const logLater = log.send(1, 1_000)
  const queue = new WorkedKey(leakyBucket({ capacity: 1_000, drain: '1/ms' }))
  const queued = queue.send(0, 1_001)
  const bucket = new WorkedKey(tokenBucket({ capacity: 1_000, refill: '1/ms' }))
  const taken = bucket.send(0, 1_001)
  return [
    {
      what: 'Fixed window of 1 s: the 1,001st request in it',
      article: 'denied (503)',
      ours: `${new WorkedKey(fixedWindow(THOUSAND)).send(0, 1_001).last.allowed ? 'allowed' : 'denied (503)'}`,
    },
    {
      what: 'Fixed window: requests at the edge of a window exceed the limit',
      article: 'more than 1,000',
      ours: acrossFixed > 1_000 ? 'more than 1,000' : figureText(acrossFixed),
    },
    {
      what: 'Sliding window, 10 × 100 ms: the same requests',
      article: 'at most 1,000',
      ours: acrossSliced <= 1_000 ? 'at most 1,000' : figureText(acrossSliced),
    },
    {
      what: 'Log: requests that the pseudo-code allows at once',
      article: '1,001',
      ours: figureText(logged.admitted),
      why: 'The code counts before it adds and denies only above the limit, so with 1,000 counted it lets one more through.',
    },
    {
      what: 'Log: how far the pseudo-code looks back',
      article: '1,000 s',
      ours: logLater.admitted === 1_000 ? '1 s' : 'longer',
      why: 'The code multiplies milliseconds by 1,000 once more. Its text says 1 s, and after 1 s all 1,000 are allowed here.',
    },
    { what: 'Leaky bucket: droplets that fit at once', article: '1,000', ours: figureText(queued.admitted) },
    {
      what: 'Leaky bucket: one leaves each',
      article: '1 ms',
      ours: `${figureText(queued.longestWaitMs / (queued.admitted - 1))} ms`,
    },
    { what: 'Token bucket: tokens at most', article: '1,000', ours: figureText(taken.admitted) },
    { what: 'Token bucket: the 1,001st waits for a token', article: '1 ms', ours: `${taken.last.retryAfterMs} ms` },
  ]
}
