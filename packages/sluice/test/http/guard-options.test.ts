import { concurrency, createLimiter, createPolicy, fixedWindow, memoryStore, unlimited } from 'sluice'
import { rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as fastifyLimit } from 'sluice/fastify'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as honoLimit } from 'sluice/hono'
import { rateLimit as koaLimit } from 'sluice/koa'
import { rateLimit as nestLimit, RateLimitModule } from 'sluice/nest'
import { rateLimit } from 'sluice/node'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const limit = fixedWindow({ quota: 1, window: '1h' })
const limiter = createLimiter({ limit })
const clock = new ManualClock(0)
const policy = createPolicy({ levels: [{ name: 'all', limit }] })

/** Wrong options, and a part of the error message. */
const TABLE: readonly (readonly [what: string, options: unknown, message: string])[] = [
  ['nothing', undefined, 'rateLimit takes { limit }, { limiter } or { policy }, and other options, got undefined'],
  [
    'a window as another library has it',
    { windowMs: 60_000, max: 100 },
    "rateLimit has no option 'windowMs'; windowMs is part of `limit` here, as in { limit: fixedWindow({ quota: 100, window: '1m' }) }",
  ],
  ['points', { points: 5, duration: 1 }, "rateLimit has no option 'points'; points is part of `limit` here"],
  [
    'a keyGenerator',
    { limit, keyGenerator: () => 'a' },
    "rateLimit has no option 'keyGenerator'; keyGenerator is `key` here",
  ],
  ['a limit itself', limit, 'rateLimit takes an object with the limit in it: rateLimit({ limit })'],
  [
    'a request, because rateLimit itself was passed on',
    new Headers(),
    'call it with options and pass on what it returns',
  ],
  [
    'a cost above the quota',
    { limit, cost: 2 },
    'cost must be no more than the quota of the limit, or every request is denied',
  ],
  ['blockFor beside a policy', { policy, blockFor: '1m' }, 'blockFor must be left out beside a policy'],
  ['a wrong blockFor', { limit, blockFor: { first: '1m', most: '1s' } }, 'blockFor.most must be at least first, 1m'],
  ['a field without proxies', { limit, forwardedIn: 'x-real-ip' }, 'forwardedIn must be beside trustedProxies'],
  ['a prefix beside a policy', { policy, ipv6Prefix: 64 }, 'ipv6Prefix must be left out beside a policy'],
  ['expose as text', { limit, expose: 'yes' }, 'expose must be true or false'],
  ['neither', {}, 'rateLimit takes a limit, a limiter or a policy, got none of them'],
  ['both', { limit, policy }, 'rateLimit takes a limit, a limiter or a policy, got limit and policy'],
  ['a misspelt option', { limit, onDenyed: () => {} }, "rateLimit has no option 'onDenyed'; did you mean onDenied?"],
  ['no limit', { limit: 100 }, 'limit must be a limit such as tokenBucket'],
  ['a limit that was not made', { limit: fixedWindow }, 'call it, as in fixedWindow({ quota: 100, window'],
  ['everything that was not made', { limit: unlimited }, 'call it, as in unlimited()'],
  ['no policy', { policy: {} }, 'policy must be a policy made by createPolicy, got an object'],
  ['no limiter', { limiter: limit }, 'limiter must be a limiter made by createLimiter, got an object'],
  ['a limit beside a limiter', { limiter, limit }, 'a limit, a limiter or a policy, got limit and limiter'],
  ['a name beside a limiter', { limiter, name: 'search' }, 'name must be left out beside a limiter'],
  ['a store beside a limiter', { limiter, store: memoryStore() }, 'store must be left out beside a limiter'],
  ['attributes beside a limiter', { limiter, attributes: () => ({}) }, 'attributes must be left out beside a limiter'],
  [
    'instead in front of a handler of Express',
    { limit, instead: true },
    "rateLimit has no option 'instead'; only the limit of a route has it: in `routes` of rateLimit, in config.rateLimit of " +
      'Fastify, and in @RateLimit of Nest',
  ],
  ['onDecision as text', { limit, onDecision: 'log' }, "onDecision must be a function, got 'log'"],
  ['a cost above the quota of the limiter', { limiter, cost: 2 }, 'cost must be no more than the quota of the limit'],
  [
    'a key that is a text',
    { limit, key: 'ip' },
    "key must be left out for the client's address, or a function such as (request, client) => userOf(request) ?? client, got 'ip'",
  ],
  [
    'a list for skip',
    { limit, skip: ['192.0.2.7'] },
    "skip must be a function such as (request, address) => address === '192.0.2.7', got an array",
  ],
  ['a key beside a policy', { policy, key: () => 'a' }, 'key must be left out beside a policy'],
  ['a store beside a policy', { policy, store: memoryStore() }, 'store must be left out beside a policy'],
  ['attributes beside a limit', { limit, attributes: () => ({}) }, 'attributes must be left out beside a limit'],
  ['a store without a name', { limit, store: memoryStore() }, 'name (which keeps limits on one store apart) must be'],
  ['a name with a space', { limit, name: 'my limit' }, "got 'my limit'"],
  ['a name with a line break', { limit, name: 'a\r\nb' }, 'name must be text of letters'],
  [
    'an unknown dialect',
    { limit, dialect: 'draft-7' },
    "dialect must be one or several of 'draft', 'draft-6', 'legacy'",
  ],
  ['another status', { limit, status: 403 }, 'status must be 429 or 503, got 403'],
  ['a negative jitter', { limit, jitterMs: -1 }, 'jitterMs must be a number of milliseconds from 0'],
  [
    'trust in every address',
    { limit, trustedProxies: ['0.0.0.0/0'] },
    'trustedProxies must be the addresses of your own proxies',
  ],
  [
    'trust as a number',
    { limit, trustedProxies: 1 },
    "trustedProxies must be a list such as ['10.0.0.0/8'], 'loopback', 'private' or { hops: 1 }, got 1",
  ],
  [
    'a clock beside a store',
    { limit, name: 'a', store: memoryStore(), clock },
    'clock must be given to the store that keeps time, as in memoryStore({ clock })',
  ],
  [
    'a clock beside a policy',
    { policy, clock },
    'clock must be given to the policy, as in createPolicy({ levels, clock })',
  ],
  [
    'a clock beside a limiter',
    { limiter, clock },
    'clock must be given to the limiter, as in createLimiter({ limit, clock })',
  ],
  [
    'a clock beside a limit of the request and a store',
    { limit: () => limit, name: 'a', store: memoryStore(), clock },
    'clock must be given to the store',
  ],
  [
    'a clock that tells no time',
    { limit, clock: Date },
    'clock must be an object with a method now() that returns epoch milliseconds',
  ],
  [
    'a settle beside a concurrency limit',
    { limit: concurrency({ max: 1 }), settle: () => 1 },
    'settle must be left out beside a concurrency limit, which gets its places back anyway',
  ],
  ['a settle that is a number', { limit, settle: 1 }, 'settle must be a function'],
  ['onFailure for a store that cannot fail', { limit, onFailure: 'closed' }, 'onFailure'],
]

/** Wrong routes, and a part of the error message. */
const WRONG_ROUTES: readonly (readonly [what: string, routes: unknown, message: string])[] = [
  [
    'a list',
    ['/ok'],
    "routes must be an object of routes, such as { 'POST /login': { limit }, '/health': false }, got an",
  ],
  ['a Map', new Map([['/ok', false]]), "routes must be an object of routes, such as { 'POST /login': { limit }, "],
  ['no options', { '/ok': true }, "routes['/ok'] must be options such as { limit }, or false for a route that is free"],
  [
    'nothing',
    { '/ok': null },
    "routes['/ok'] must be options such as { limit }, or false for a route that is free, got n",
  ],
  ['a limit', { '/ok': limit }, "routes['/ok']: rateLimit takes an object with the limit in it: rateLimit({ limit })"],
  ['no limit', { '/ok': {} }, "routes['/ok']: rateLimit takes a limit, a limiter or a policy, got none of them"],
  [
    'a misspelt option',
    { '/ok': { limit, insted: true } },
    "routes['/ok']: rateLimit has no option 'insted'; did you mean",
  ],
  ['an option of all', { '/ok': { limit, address: () => '' } }, "routes['/ok']: rateLimit has no option 'address'"],
  [
    'instead as a text',
    { '/ok': { limit, instead: 'yes' } },
    "routes['/ok']: instead must be true or false, got 'yes'",
  ],
  ['a cost above the quota', { 'GET /a': { limit, cost: 2 } }, "routes['GET /a']: cost must be no more than the quota"],
  ['no slash', { login: false }, "routes['login']: path must be a path such as '/v1/charges', '/v1/charges/:id' or"],
  ['a method alone', { POST: false }, "routes['POST']: path must be a path such as"],
  ['no path', { 'POST ': false }, "(a pattern begins with a slash), got ''"],
  [
    'an unknown method',
    { 'FETCH /ok': false },
    "routes['FETCH /ok']: there is no method 'FETCH'; did you mean 'PATCH'?",
  ],
  ['a word for all methods', { 'ALL /ok': false }, "routes['ALL /ok']: leave the method out for all methods: '/ok'"],
  ['a star for all methods', { '* /ok': false }, "leave the method out for all methods: '/ok'"],
  ['a list of methods', { 'GET,POST /ok': false }, "write one route for each method, as in 'GET /ok'"],
  ['methods with a bar', { 'GET | POST /ok': false }, "write one route for each method, as in 'GET /ok'"],
  ['a space at the end', { 'POST /ok ': false }, "without a space at its end, got '/ok '"],
  ['part of a segment', { '/ok*': false }, "routes['/ok*']: path must be a path such as"],
  ['a query', { 'GET /ok?a=1': false }, "routes['GET /ok?a=1']: path must be a path such as"],
  ['dots', { '/a/../b': false }, "without empty segments, '.' and '..', which no path has, got '/a/../b'"],
  [
    '** in the middle',
    { '/a/**/b': false },
    "a path with '**' at its end only, where it matches all below, got '/a/**/b'",
  ],
  [
    'a route twice',
    { 'GET /a/:b': false, 'get /a/*/': false },
    "routes has 'GET /a/:b' and 'get /a/*/', which are the same",
  ],
]

describe('options of rateLimit', () => {
  it.each(TABLE)('%s is an error that says how to fix it', (_what, options, message) => {
    expect(() => rateLimit(options as never)).toThrow(message)
  })

  it('a Request has no address, so a key or an address function is required', () => {
    expect(() => fetchLimit({ limit })).toThrow('give it a key, or address')
    expect(() => fetchLimit({ policy })).not.toThrow()
    const byAddress = createPolicy({ levels: [{ name: 'ip', key: 'ip', limit }] })
    expect(() => fetchLimit({ policy: byAddress })).toThrow('give it a key, or address')
  })

  it.each(WRONG_ROUTES)('routes with %s are an error that names the route', (_what, routes, message) => {
    const adapters: readonly ((options: never) => unknown)[] = [
      expressLimit,
      fetchLimit,
      honoLimit,
      koaLimit,
      rateLimit,
    ]
    for (const adapter of adapters) expect(() => adapter({ limit, key: () => '', routes } as never)).toThrow(message)
  })

  it('routes are refused in Fastify and Nest, with the name that they have there', () => {
    const options = { limit, routes: { '/ok': false } } as never
    const message =
      /no option 'routes'; a route of Fastify has its limit in config.rateLimit, and .* Nest in @RateLimit/
    expect(() => fastifyLimit(options)).toThrow(message)
    expect(() => nestLimit(options)).toThrow(message)
    expect(() => RateLimitModule.forRoot(options)).toThrow(message)
  })
})
