/** The examples of the article on traffic control that are about one client among many, a fleet, and levels of limits. */
import { fixedWindow, type Limit, shareOf, tokenBucket } from 'sluice/limits'
import { trafficDraft } from '../settings/traffic-draft.js'
import { bursts, type Figure, limits, type Preset } from './preset.js'
import { figureText, WorkedKey } from './worked-key.js'

const ARTICLE = 'Traffic Control — Token Bucket and Leaky Bucket at Scale'

/** Its worked examples at scale. */
export const article001Fleet: readonly Preset[] = [
  {
    id: '001-stripe',
    article: ARTICLE,
    title: 'Stripe’s levels',
    about:
      'The same 300 requests in one instant meet each level: the merchant’s, POST /v1/charges, GET /v1/customers, one address, and the whole API. A request must pass all that apply, so the smallest decides.',
    traffic: bursts('300@0', '4s'),
    limits: limits(
      ['token-bucket', '100', '100/s'],
      ['token-bucket', '50', '50/s'],
      ['token-bucket', '200', '200/s'],
      ['token-bucket', '20', '20/s'],
      ['token-bucket', '10000', '10000/s'],
    ),
    names: ['merchant', 'POST /v1/charges', 'GET /v1/customers', 'address', 'whole API'],
    figures: stripeFigures,
  },
  {
    id: '001-client',
    article: ARTICLE,
    title: 'One client sends five times its share',
    about:
      'A client sends 50,000 requests a second to an API that serves 10,000. The windows let a fifth through, all of it early in each second. The bucket spends its 10,000 tokens first, and then lets a fifth through evenly.',
    traffic: trafficDraft('steady', { rate: '50000/s', length: '2s' }),
    limits: limits(
      ['fixed-window', '10000', '1s'],
      ['sliding-log', '10000', '1s'],
      ['token-bucket', '10000', '10000/s'],
    ),
    figures: clientFigures,
  },
  {
    id: '001-servers',
    article: ARTICLE,
    title: '50 servers, 2 a second each',
    about:
      'A hundred requests in a second reach one server. Its own share lets 2 through; a limit that all servers count together lets 100.',
    traffic: trafficDraft('steady', { rate: '100/s', length: '1s' }),
    limits: limits(['fixed-window', '2', '1s'], ['fixed-window', '100', '1s']),
    names: ['one server’s share', 'all servers together'],
    figures: serverFigures,
  },
]

function stripeFigures(): readonly Figure[] {
  const admitted = (perSecond: number, sent = 300) =>
    figureText(new WorkedKey(tokenBucket({ capacity: perSecond, refill: `${perSecond}/s` })).send(0, sent).admitted)
  const rows: readonly (readonly [string, number, number])[] = [
    ['Level 1, the whole API, of 12,000 requests', 10_000, 12_000],
    ['Level 2, each merchant, of 300', 100, 300],
    ['Level 3, POST /v1/charges, of 300', 50, 300],
    ['Level 3, GET /v1/customers, of 300', 200, 300],
    ['Level 4, an address without a merchant, of 300', 20, 300],
  ]
  const merchants = Array.from({ length: 10 }, () => Number(admitted(100)))
  return [
    ...rows.map(([what, perSecond, sent]) => ({
      what,
      article: `${figureText(perSecond)} allowed`,
      ours: `${admitted(perSecond, sent)} allowed`,
    })),
    {
      what: 'Headroom: ten heavy users at 100 a second, of a server’s 1,000',
      article: '1,000',
      ours: figureText(merchants.reduce((sum, each) => sum + each)),
    },
  ]
}

function clientFigures(): readonly Figure[] {
  const key = new WorkedKey(fixedWindow({ quota: 10_000, window: '1s' }))
  let admitted = 0
  for (let i = 0; i < 50_000; i++) admitted += key.send(i / 50_000).admitted
  return [
    { what: 'The API handles, in a second', article: '10,000', ours: figureText(admitted) },
    { what: 'The client sends, of that', article: '5x', ours: `${50_000 / admitted}x` },
    {
      what: 'Denied in the second',
      article: '40,000',
      ours: figureText(50_000 - admitted),
    },
  ]
}

function serverFigures(): readonly Figure[] {
  const shared = fixedWindow({ quota: 100, window: '1s' })
  const share = shareOf(shared, 50) as Limit
  const spread = Array.from({ length: 50 }, () => new WorkedKey(share).send(0, 2).admitted)
  const one = new WorkedKey(share).send(0, 100)
  const thousandth = shareOf(tokenBucket({ capacity: 1_000, refill: '1000/s' }), 50) as Limit
  const all = new WorkedKey(shared).send(0, 100)
  return [
    {
      what: 'Each server’s share of 100 a second',
      article: '2',
      ours: figureText(new WorkedKey(share).send(0, 9).admitted),
    },
    {
      what: 'Evenly, 2 to each of 50: allowed',
      article: '100',
      ours: figureText(spread.reduce((sum, each) => sum + each)),
    },
    { what: 'All 100 to one server: denied', article: '98', ours: figureText(one.denied) },
    { what: 'All 100 to one server: allowed', article: '2', ours: figureText(one.admitted) },
    { what: 'One count for all servers: allowed', article: '100', ours: figureText(all.admitted) },
    {
      what: 'Each server’s share of 1,000 a second',
      article: '20',
      ours: figureText(new WorkedKey(thousandth).send(0, 99).admitted),
    },
  ]
}
