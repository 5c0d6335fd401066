/** The article that works out the token bucket with 20 tokens and 5 a second. */
import { evaluate, fixedWindow, slidingWindow, tokenBucket } from 'sluice/limits'
import { mostInWindow } from '../engine/most-in-window.js'
import { trafficDraft } from '../settings/traffic-draft.js'
import { bursts, type Figure, limits, type Preset } from './preset.js'
import { figureText, outcomeText, WorkedKey } from './worked-key.js'

const ARTICLE = 'Token Bucket: two knobs, capacity and refill rate'
const TWENTY = tokenBucket({ capacity: 20, refill: '5/s' })

/** Its worked examples. */
export const article004: readonly Preset[] = [
  {
    id: '004-bucket',
    article: ARTICLE,
    title: '20 tokens, 5 a second',
    about:
      'Twenty-one requests come at once, one more each second. The first twenty empty the bucket, and every second brings 5 tokens.',
    traffic: bursts('21@0 1@1 1@2 1@3', '6s'),
    limits: limits(['token-bucket', '20', '5/s'], ['leaky-bucket', '20', '5/s'], ['fixed-window', '5', '1s']),
    figures: bucketFigures,
  },
  {
    id: '004-idle',
    article: ARTICLE,
    title: '45 seconds idle',
    about: 'Seventeen requests leave 3 tokens. After 45 seconds 225 more would have come in; the bucket holds 20.',
    traffic: bursts('17@0 1@45', '1m'),
    limits: limits(['token-bucket', '20', '5/s'], ['token-bucket', '1000', '5/s']),
    figures: idleFigures,
  },
  {
    id: '004-windows',
    article: ARTICLE,
    title: '60 a minute, in two bursts',
    about:
      'Sixty requests at second 0 and sixty at second 60, with one at second 30. Windows of a minute against a bucket of one a second.',
    traffic: bursts('60@0 1@30 60@60', '2m'),
    limits: limits(['fixed-window', '60', '1m'], ['sliding-window', '60', '1m'], ['token-bucket', '60', '1/s']),
    figures: windowFigures,
  },
  {
    id: '004-endpoints',
    article: ARTICLE,
    title: 'Search, login and payment',
    about:
      'The same 120 requests at once, then one each two seconds, against a generous, a strict and a very strict bucket.',
    traffic: bursts('120@0 1@2+2x59', '2m'),
    limits: limits(['token-bucket', '100', '10/s'], ['token-bucket', '5', '0.08/s'], ['token-bucket', '3', '0.016/s']),
    names: ['/search', '/login', '/payment'],
    figures: endpointFigures,
  },
  {
    id: '004-app',
    article: ARTICLE,
    title: 'An app starts: 10 calls in 2 seconds',
    about:
      'Ten calls in two seconds, most of them first, then silence. A bucket lets them through; a window of the same rate does not.',
    traffic: bursts('7@0 1@0.5 1@1 1@2', '10s'),
    limits: limits(['token-bucket', '20', '5/s'], ['fixed-window', '5', '1s'], ['sliding-window', '5', '1s']),
    figures: appFigures,
  },
  {
    id: '004-overload',
    article: ARTICLE,
    title: 'More than it lets through',
    about: 'Random arrivals, 20 a second on average. Once the burst is spent, the bucket lets 5 a second through.',
    traffic: trafficDraft('poisson', { rate: '20/s', seed: '1', length: '20s' }),
    limits: limits(['token-bucket', '20', '5/s'], ['leaky-bucket', '20', '5/s'], ['fixed-window', '5', '1s']),
    figures: () => [],
  },
]

function bucketFigures(): readonly Figure[] {
  const key = new WorkedKey(TWENTY)
  const row = (what: string, atS: number, article: string) => {
    const sent = key.send(atS)
    return { what, article, ours: `${key.left()} tokens, ${outcomeText(sent)}` }
  }
  const first = row('Request 1', 0, '19 tokens, allowed')
  const second = row('Request 2', 0, '18 tokens, allowed')
  key.send(0, 17)
  const twentieth = row('Request 20', 0, '0 tokens, allowed')
  const blocked = key.send(0)
  const twentyFirst = {
    what: 'Request 21',
    article: '0 tokens, denied',
    ours: `${key.left()} tokens, ${outcomeText(blocked)}`,
  }
  const wait = { what: 'Retry after', article: '0.2 s', ours: `${figureText(blocked.last.retryAfterMs / 1_000)} s` }
  const half = new WorkedKey(TWENTY)
  half.send(0, 20)
  const tooEarly = half.send(0.1)
  return [
    first,
    second,
    twentieth,
    twentyFirst,
    wait,
    { what: '1 second passes', article: '5 tokens', ours: `${key.left(1)} tokens` },
    row('Request 22', 1, '4 tokens, allowed'),
    {
      what: 'Half a token: 0.1 s after the bucket is empty',
      article: 'new_tokens > 0: allowed',
      ours: `${half.left()} tokens, ${outcomeText(tooEarly)}`,
      why: 'A request costs a whole token. A test of “more than 0” would let it go at half a token and leave the bucket at −0.5.',
    },
  ]
}

function idleFigures(): readonly Figure[] {
  const startS = 1_745_000_100
  const key = new WorkedKey(TWENTY)
  key.send(startS, 17)
  const before = key.left()
  const large = new WorkedKey(tokenBucket({ capacity: 1_000_000, refill: '5/s' }))
  large.send(startS, 1_000_000)
  const gained = large.left(startS + 45)
  const gainedInTenHours = large.left(startS + 36_000)
  const full = key.left(startS + 45)
  const sent = key.send(startS + 45)
  const after = key.left()
  const empty = evaluate(TWENTY, undefined, 0, 20).state
  const untouched = evaluate(TWENTY, empty, 36_000_000, 0).state === empty
  const idle = new WorkedKey(TWENTY)
  idle.send(0, 20)
  return [
    { what: 'At 1745000100', article: '3 tokens', ours: `${before} tokens` },
    { what: 'Tokens that 45 s add', article: '225 tokens', ours: `${gained} tokens` },
    { what: 'At 1745000145, capped', article: '20 tokens', ours: `${full} tokens` },
    { what: 'The request then', article: '19 tokens, allowed', ours: `${after} tokens, ${outcomeText(sent)}` },
    { what: 'Tokens that 10 hours add', article: '180,000 tokens', ours: `${gainedInTenHours} tokens` },
    { what: 'After 10 hours idle, capped', article: '20 tokens', ours: `${idle.left(36_000)} tokens` },
    {
      what: 'Numbers kept for each user',
      article: '2',
      ours: figureText(evaluate(TWENTY, undefined, 0, 1).state?.length ?? 0),
    },
    {
      what: 'Writes a second to refill 1,000,000 users, of 400,000 that Redis is given',
      article: '1,000,000 (2.5 times)',
      ours: figureText(untouched ? 0 : 1_000_000),
      why: 'As the article concludes: the tokens are counted when a request comes, so an idle key is never written. After 10 hours the state of an empty bucket is what it was, and reads as full.',
    },
  ]
}

function windowFigures(): readonly Figure[] {
  const fixed = new WorkedKey(fixedWindow({ quota: 60, window: '1m' }))
  const first = fixed.send(0, 60)
  const thirtieth = fixed.send(30)
  const second = fixed.send(60, 60)
  const sliding = new WorkedKey(slidingWindow({ quota: 60, window: '1m' }))
  sliding.send(0, 60)
  const slidingSecond = sliding.send(60, 60)
  const bucket = new WorkedKey(tokenBucket({ capacity: 60, refill: '1/s' }))
  bucket.send(0, 60)
  const bucketLeft = bucket.left(30)
  const bucketThirtieth = bucket.send(30)
  const edge = new WorkedKey(fixedWindow({ quota: 60, window: '1m' }))
  const atEdge = edge.send(59, 60).admitted + edge.send(60, 60).admitted
  const inTwoSeconds = mostInWindow([...new Array<number>(60).fill(0), ...new Array<number>(60).fill(60e6)], 1, 2e6)
  return [
    { what: 'Fixed window: 60 at second 0', article: '60 allowed', ours: `${first.admitted} allowed` },
    { what: 'Fixed window: one more at second 30', article: 'denied', ours: outcomeText(thirtieth) },
    { what: 'Fixed window: 60 at second 60', article: '60 allowed', ours: `${second.admitted} allowed` },
    {
      what: 'Most in 2 seconds, of 60 at second 0 and 60 at second 60',
      article: '120 requests',
      ours: `${inTwoSeconds} requests`,
      why: 'The two bursts are a minute apart. With seconds 59 and 60 it is as the article says: see the next line.',
    },
    { what: 'Fixed window: 60 at second 59 and 60 at second 60', article: '120 requests', ours: `${atEdge} requests` },
    {
      what: 'In one second, of the 1 a second that the backend is made for',
      article: '60x',
      ours: `${first.admitted}x`,
    },
    {
      what: 'Sliding window counter: 60 at second 60',
      article: '60 allowed',
      ours: `${slidingSecond.admitted} allowed`,
      why: 'At second 60 the window before still weighs in full: 60 · (1 − 0/60) = 60. The example is that of a fixed window.',
    },
    {
      what: 'Token bucket of 60, 1 a second: one more at second 30',
      article: 'allowed',
      ours: `${outcomeText(bucketThirtieth)}`,
    },
    { what: 'Its tokens then', article: '30 tokens', ours: `${bucketLeft} tokens` },
  ]
}

function endpointFigures(): readonly Figure[] {
  const search = new WorkedKey(tokenBucket({ capacity: 100, refill: '10/s' }))
  const login = new WorkedKey(tokenBucket({ capacity: 5, refill: '0.08/s' }))
  const payment = new WorkedKey(tokenBucket({ capacity: 3, refill: '0.016/s' }))
  const perMinute = new WorkedKey(tokenBucket({ capacity: 5, refill: '5/m' }))
  perMinute.send(0, 5)
  const burst = [search, login, payment].map((key) => key.send(0, 120).admitted)
  const paymentLeft = payment.left(60)
  return [
    { what: '/search: burst', article: '100 allowed', ours: `${burst[0]} allowed` },
    { what: '/search: sustained, in the next second', article: '10 tokens', ours: `${search.left(1)} tokens` },
    { what: '/login: burst', article: '5 allowed', ours: `${burst[1]} allowed` },
    {
      what: '/login: 0.08/s, “5 per minute”',
      article: '5 tokens a minute',
      ours: `${login.left(60)} tokens a minute`,
      why: `0.08 is 0.083 cut off. Write '5/m', which is exact: it brings ${perMinute.left(60)} tokens a minute.`,
    },
    { what: '/payment: burst', article: '3 allowed', ours: `${burst[2]} allowed` },
    {
      what: '/payment: 0.016/s, “1 per minute”',
      article: '1 token a minute',
      ours: `${paymentLeft} tokens a minute`,
      why: "0.016 is 1/60 cut off, so the next payment is allowed after 62.5 s. '1/m' is exact.",
    },
  ]
}

function appFigures(): readonly Figure[] {
  const bucket = new WorkedKey(TWENTY)
  const window = new WorkedKey(fixedWindow({ quota: 5, window: '1s' }))
  const send = (key: WorkedKey) =>
    key.send(0, 7).admitted + key.send(0.5).admitted + key.send(1).admitted + key.send(2).admitted
  return [
    { what: 'Token bucket: 10 calls in 2 seconds', article: '10 allowed', ours: `${send(bucket)} allowed` },
    { what: 'A window of 5 a second throttles them', article: 'fewer than 10', ours: fewerThan(10, send(window)) },
  ]
}

function fewerThan(all: number, some: number): string {
  return some < all ? `fewer than ${all}` : `${some}`
}
