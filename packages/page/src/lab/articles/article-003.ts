/** The article for interviews: why tokens are fractions, and what its queue really does. */
import { leakyBucket, tokenBucket } from 'sluice/limits'
import { trafficDraft } from '../settings/traffic-draft.js'
import { type Figure, limits, type Preset } from './preset.js'
import { figureText, WorkedKey } from './worked-key.js'

const ARTICLE = 'Design a rate limiter: token bucket or leaky bucket'

/** Its worked examples. */
export const article003: readonly Preset[] = [
  {
    id: '003-fractions',
    article: ARTICLE,
    title: '0.1 tokens at a time',
    about:
      'A call each millisecond against 100 tokens a second. Each call finds 0.1 tokens more, so one call in ten passes. Whole numbers would stay at 0 for ever.',
    traffic: trafficDraft('steady', { rate: '1/ms', length: '200ms' }),
    limits: limits(['token-bucket', '10', '100/s'], ['leaky-bucket', '10', '100/s']),
    figures,
  },
]

function figures(): readonly Figure[] {
  const bucket = new WorkedKey(tokenBucket({ capacity: 10, refill: '100/s' }))
  const burst = bucket.send(0, 10)
  const afterAMillisecond = bucket.left(0.001)
  let passed = 0
  for (let ms = 1; ms <= 1_000; ms++) passed += bucket.send(ms / 1_000).admitted
  const full = bucket.left(3_600)
  const queue = new WorkedKey(leakyBucket({ capacity: 20, drain: '100/s' }))
  queue.send(0, 20)
  const freed = Number(queue.left(0.01))
  const idle = new WorkedKey(leakyBucket({ capacity: 20, drain: '100/s' }))
  idle.send(0)
  const afterIdle = idle.send(3_600, 2).longestWaitMs
  return [
    { what: 'R = 100, 1 ms between calls: tokens that come in', article: '0.1', ours: afterAMillisecond },
    { what: 'Token bucket, B = 10: calls in zero time', article: '10', ours: figureText(burst.admitted) },
    { what: 'R: calls that pass in a second', article: '100', ours: figureText(passed) },
    { what: 'Idle periods accumulate tokens up to B = 10', article: '10', ours: full },
    {
      what: 'Leaky bucket: an idle hour earns nothing; of two calls the second waits',
      article: '10 ms',
      ours: `${figureText(afterIdle)} ms`,
    },
    {
      what: 'Leaky bucket: 20 calls at once, how many have left one interval (10 ms) later',
      article: '20',
      ours: figureText(freed),
      why: 'The sketch lets each call go one interval after it came, so a burst goes as a burst. Its text asks for a steady rate, which needs one departure each interval.',
    },
  ]
}
