/** The article with a bucket of 100 tokens and 10 a second, and the queue that smooths. */
import { leakyBucket, tokenBucket } from 'sluice/limits'
import { bursts, type Figure, limits, type Preset } from './preset.js'
import { figureText, WorkedKey } from './worked-key.js'

const ARTICLE = 'Rate Limiting, 02 — Token Bucket and Leaky Bucket (thepointman.dev)'
const WEEK_S = 7 * 86_400

/** Its worked examples. */
export const article000: readonly Preset[] = [
  {
    id: '000-hundred',
    article: ARTICLE,
    title: '100 at once, then 10 a second',
    about:
      'A burst of 120, then 20 requests a second. The token bucket passes 100 at once and 10 a second after that; the leaky bucket passes one each 100 ms from the start.',
    traffic: bursts('120@0 10@0.5+0.5x20', '12s'),
    limits: limits(['token-bucket', '100', '10/s'], ['leaky-bucket', '100', '10/s']),
    figures,
  },
]

function figures(): readonly Figure[] {
  const bucket = new WorkedKey(tokenBucket({ capacity: 100, refill: '10/s' }))
  const burst = bucket.send(0, 120)
  const seconds = [1, 2, 3, 4, 5].map((atS) => bucket.send(atS, 20).admitted)
  const sustained = seconds.every((each) => each === seconds[0]) ? `${seconds[0]} a second` : seconds.join(', ')
  const afterAWeek = bucket.left(WEEK_S)
  const queue = new WorkedKey(leakyBucket({ capacity: 100, drain: '10/s' }))
  const waits = Array.from({ length: 100 }, () => queue.send(0).last.delayMs)
  const gaps = new Set(waits.slice(1).map((wait, i) => wait - waits[i]))
  const dropped = queue.send(0)
  return [
    { what: 'Burst on a full bucket', article: '100 allowed', ours: `${burst.admitted} allowed` },
    { what: 'Then, for as long as requests come', article: '10 a second', ours: sustained },
    { what: 'Tokens after a week away', article: '100 tokens', ours: `${afterAWeek} tokens` },
    {
      what: 'Leaky bucket of 100: time between two departures',
      article: '100 ms, always',
      ours: `${[...gaps].map(figureText).join(', ')} ms, always`,
    },
    {
      what: 'Leaky bucket: a request to a full queue',
      article: 'dropped',
      ours: dropped.last.allowed ? 'queued' : 'dropped',
    },
  ]
}
