import { beforeAll, describe, expect, it } from 'vitest'
import { type Complaint, compilePrograms } from './compile-programs.js'

/** Programs that compile. */
const RIGHT: readonly string[] = [
  // Rates and durations: literal, and computed.
  "fixedWindow({ quota: 5, window: '1m' }); slidingLog({ quota: 5, window: '1.5s' }); concurrency({ max: 5, ttl: '250ms' })",
  "tokenBucket({ capacity: 5, refill: '0.08/s' }); leakyBucket({ capacity: 5, drain: '10/250ms' })",
  `tokenBucket({ capacity: 5, refill: \`\${count}/s\` }); tokenBucket({ capacity: 5, refill: \`\${count}/\${count}ms\` })`,
  `fixedWindow({ quota: 5, window: \`\${count}m\` }); createShaper({ capacity: 5, drain: \`\${count}/m\` })`,
  `const rate: sluice.Rate = \`\${count}/\${parseDuration(text)}\`; const window: sluice.Duration = \`\${count}h\``,
  // Rates and durations from configuration.
  'tokenBucket({ capacity: count, refill: parseRate(text) }); fixedWindow({ quota: 5, window: parseDuration(text) })',
  "createLimiter({ limit: parseLimit(JSON.parse(text)), blockFor: parseDuration(text, 'BLOCK') })",
  "const numbers = { capacity: 5, drain: '5/s' } as const; createShaper(numbers); createShaper({ capacity: 5, concurrency: 2 }); leakyBucket(numbers)",
  "createLimiter({ limit, blockFor: { first: '1m', most: '1d' } }).block('a', { duration: '10m' })",
  'const { algorithm, refill } = limit; tokenBucket({ capacity: 5, refill }); createLimiter({ limit: { algorithm, capacity: 5, refill } })',
  // The limiter has the type that its store says.
  "createLimiter({ limit }).tryAcquire('a').allowed; createLimiter({ limit, clock: systemClock, name: 'a' })",
  "createLimiter({ limit, name: 'a', store: memoryStore() }).tryAcquire('a').allowed",
  "createLimiter({ limit, name: 'a', store, onFailure: 'open' }).tryAcquire('a').then(({ allowed }) => allowed)",
  "declare const any: sluice.SyncStore | sluice.AsyncStore; const made: sluice.Limiter | sluice.AsyncLimiter = createLimiter({ limit, name: 'a', store: any })",
  "createLimiters({ a: limit }).a.tryAcquire('a').allowed; createLimiters({ a: limit }, { store }).a.tryAcquire('a').then()",
  "createPolicy({ name: 'a', store, levels: [{ name: 'a', limit }] }).check({}).then(); known.check({ ip: '', method: '', path: '' }).allowed",
  // rateLimit knows its request, and with a policy its attributes.
  "express({ limit, key: (request) => request.get('x-key') }); express({ limit: (request) => (request.query.a ? limit : limit) })",
  'express({ policy: known }); express({ policy: unknown }); express({ policy: unknown, attributes: () => ({ a: 1 }) })',
  "express({ policy, attributes: (request) => ({ user: request.headers['x-user'], tokens: 5 }) })",
  "express({ attributes: (request) => ({ user: request.params.user, tokens: 5, method: 'GET', ip: null }), policy })",
  'express({ policy, attributes: async () => ({ user: null, tokens: undefined }), settle: ({ cost = 1 }) => ({ tokens: cost }) })',
  "fastify({ policy, attributes: (request) => ({ user: request.headers['x-user'], tokens: 5 }), hook: 'preHandler' }); fastify()",
  "fetchLimit({ policy, attributes: (request) => ({ user: request.headers.get('x-user'), tokens: 5 }), address: () => '::1' })",
  'fetchLimit({ limit, address: (_request, info: { remote: string }) => info.remote })',
  "hono({ policy, attributes: (c) => ({ user: c.req.header('x-user'), tokens: 5 }) }); hono({ policy: known })",
  "koa({ policy, attributes: (context) => ({ user: context.get('x-user'), tokens: 5 }) }); koa({ limit })",
  'nest({ policy, attributes: (request) => ({ user: request.user, tokens: 5 }) }); RateLimitModule.forRoot({ limit })',
  "RateLimit({ policy, attributes: () => ({ user: 'a', tokens: 5 }), instead: true }); RateLimit({ limit })",
  "node({ policy, attributes: (request) => ({ user: request.headers['x-user'], tokens: 5 }) })",
  'node({ limiter: createLimiter({ limit }), key: (request) => request.url, onDenied: (_, response) => void response.end() })',
  "fastifyApp.get('/', { config: { rateLimit: { limit, name: 'a', store, instead: true } } }, () => text)",
  "fastifyApp.get('/', { config: { rateLimit: { policy, attributes: (request) => ({ user: request.ip, tokens: 5 }) } } }, () => text)",
  "fastifyApp.get('/', { config: { rateLimit: routeLimit({ policy, attributes: (request) => ({ user: request.ip, tokens: 5 }), instead: true }) } }, () => text)",
  'RateLimitModule.forRootAsync({ inject: [], useFactory: async (name: string) => ({ limit, name, store, key: (request) => request.user }) })',
  "RateLimitModule.forRootAsync({ useFactory: async () => ({ policy, attributes: () => ({ user: 'a', tokens: 1 }) }) })",
  'declare const options: NestOptions; RateLimitModule.forRootAsync({ useFactory: () => options }); RateLimitModule.forRootAsync({ useFactory: async () => options })',
  "node<import('node:http').IncomingMessage, import('node:http').ServerResponse>({ limit, name: 'a', store })",
  // Limits of routes know the request of the framework.
  "express({ limit, routes: { '/a': { limit, key: (request) => request.get('x-key'), onDenied: (_, response) => void response.send() } } })",
  "hono({ limit, routes: { '/a': { policy, attributes: (c) => ({ user: c.req.header('x-user'), tokens: 5 }) } } })",
  "koa({ policy: known, routes: { '/a': { limit: (context) => (context.query.a ? limit : limit) } } })",
  "fetchLimit({ limit, address: (_request, info: { remote: string }) => info.remote, routes: { '/a': { limit, key: (request) => request.url } } })",
  'declare const routes: Record<string, false | { limit: sluice.Limit }>; node({ limit, routes })',
  // Options that are in a variable.
  'declare const options: ExpressOptions; express(options)',
  'declare const options: FastifyOptions | undefined; fastify(options)',
  "const options: ExpressOptions = { limit, name: 'a' }; express({ ...options, status: 503 })",
  'declare const isFast: boolean; node(isFast ? { limit } : { limiter: createLimiter({ limit }) })',
]

/** Limits of routes, in each adapter that has them as an option. */
const RIGHT_ROUTES: readonly string[] = [
  "{ '/a': false, 'POST /b/**': { limit, instead: true, status: 503 } }",
  "{ '/a': { policy, attributes: () => ({ user: 'a', tokens: 5 }) }, '/b': { limit }, '/c': false, '/d': { policy: known } }",
  "{ '/a': { policy: unknown, attributes: () => ({ a: 1 }) }, '/b': { limiter: createLimiter({ limit }) } }",
  "{ '/a': { limit, name: 'a', store }, '/b': { limit: () => limit, onFailure: 'open', name: 'b' } }",
]

/** Wrong limits of routes, and what the one complaint of the compiler names. */
const WRONG_ROUTES: readonly (readonly [routes: string, names: RegExp])[] = [
  ["{ '/a': { policy } }", /Property 'attributes' is missing/],
  ["{ '/a': { policy, attributes: () => ({ usr: 'a', tokens: 1 }) } }", /usr.*user/s],
  ["{ '/a': { limit, keyGenerator: () => text } }", /'keyGenerator' does not exist/],
  ["{ '/a': { limit, address: () => text } }", /'address' does not exist/],
  ["{ '/a': { limit, routes: {} } }", /'routes' does not exist/],
  ["{ '/a': { limit, policy: known } }", /not assignable/],
  ["{ '/a': { limit, store: memoryStore() } }", /Property 'name' is missing/],
  ["{ '/a': { limit, instead: 'yes' } }", /'string' is not assignable to type 'boolean/],
  ["{ '/a': { limit: 5 } }", /'number' is not assignable to type .*Limit/],
  ["{ '/a': { limit, key: () => 5 } }", /'number' is not assignable to type .*string/s],
  ["{ '/a': {} }", /'\{\}' is not assignable/],
  ["{ '/a': true }", /'true' is not assignable/],
]

/** The same options in every adapter. */
const RIGHT_IN_EACH: readonly string[] = [
  "{ policy: anyStore, attributes: () => ({ user: 'a', tokens: 1 }), settle: () => ({ tokens: 1 }) }",
  "{ limit, name: 'a', store }",
  "{ limit, name: 'a', store: text === '' ? store : memoryStore() }",
  "{ limit, name: 'a', store: text === '' ? store : undefined, onFailure: text === '' ? 'open' : undefined }",
]

/** Programs that do not compile, and what the one complaint of the compiler names. */
const WRONG: readonly (readonly [program: string, names: RegExp])[] = [
  ['fixedWindow({ quota: 5, window: 60 })', /'number' is not assignable to type .*ms/],
  ["fixedWindow({ quota: 5, window: '60' })", /'"60"' is not assignable/],
  ["fixedWindow({ quota: 5, window: '1 min' })", /'"1 min"' is not assignable/],
  ['fixedWindow({ quota: 5, window: text })', /'string' is not assignable/],
  ['fixedWindow({ quota: 5, windowMs: 60 })', /'windowMs' does not exist.*Did you mean to write 'window'/],
  ["tokenBucket({ capacity: 5, refill: '5 per second' })", /'"5 per second"' is not assignable to type 'Rate'/],
  ["tokenBucket({ capacity: 5, refill: '5/sec' })", /'"5\/sec"' is not assignable to type 'Rate'/],
  ['tokenBucket({ capacity: 5, refill: 5 })', /'number' is not assignable to type 'Rate'/],
  ['tokenBucket({ capacity: 5, refill: text })', /'string' is not assignable to type 'Rate'/],
  [`tokenBucket({ capacity: 5, refill: \`\${text}/s\` })`, /is not assignable to type 'Rate'/],
  ['concurrency({ max: 5, ttl: 30_000 })', /'number' is not assignable/],
  ['createLimiter({ limit, blockFor: 900 })', /'number' is not assignable to type 'BlockFor/],
  ["createLimiter({ limit }).block('a', { duration: 600 })", /'number' is not assignable/],
  ["createLimiter({ limit }).reserve('a', { ttl: 30 })", /'number' is not assignable/],
  ["sluice.claimOnce(store, 'a', { ttl: 3600 })", /'number' is not assignable/],
  ["shapedFetch({ drain: '5/sec', capacity: 5 })", /'"5\/sec"' is not assignable to type 'Rate/],
  ["shapedFetch({ drain: '5/s' })", /Property 'capacity' is missing/],
  ["shapedFetch({ drain: '5/s', capacity: 5, retry: 5 })", /'retry' does not exist/],

  ['createLimiter({ limit, store })', /Property 'name' is missing/],
  ['createLimiter({ limit, store: memoryStore() })', /Property 'name' is missing/],
  ["createLimiter({ limit, nam: 'a' })", /'nam' does not exist.*Did you mean to write 'name'/],
  ["createLimiter({ limit, name: 'a', store, prefix: 'b' })", /'prefix' does not exist/],
  [
    "createLimiter({ limit, name: 'a', store, clock: systemClock })",
    /'clock'.*'Clock' is not assignable to type 'undefined'/s,
  ],
  ["createLimiter({ capacity: 5, refill: '5/s' })", /'capacity' does not exist/],
  ["createLimiter({ limit, refill: '5/s' })", /'refill' does not exist/],
  ['createLimiter({ limit: 5 })', /'number' is not assignable to type 'Limit'/],
  ["createLimiter({ limit }).tryAcquire('a').then()", /Property 'then' does not exist on type 'Decision'/],
  ['createLimiters({ a: limit }, { stor: store })', /'stor' does not exist/],
  ['createLimiters({ a: limit }).b', /Property 'b' does not exist/],

  ['express({})', /Property 'limit' is missing/],
  ["express({ key: () => 'a' })", /Property 'limit' is missing/],
  ['express({ limit, keyGenerator: () => text })', /'keyGenerator' does not exist/],
  ['express({ windowMs: 60_000, max: 5 })', /'windowMs' does not exist/],
  ['express({ limit: 5 })', /'number' is not assignable to type .*Limit/],
  ["express({ limit, attributes: () => ({ user: 'a' }) })", /is not assignable to type 'undefined'/],
  [
    "express({ limit, routes: { '/a': { limit, key: (request) => request.nothing } } })",
    /Property 'nothing' does not exist/,
  ],
  ["fastify({ limit, routes: { '/a': false } })", /'routes' does not exist/],
  ["RateLimitModule.forRoot({ limit, routes: { '/a': false } })", /'routes' does not exist/],
  [
    "RateLimitModule.forRootAsync({ useFactory: () => ({ limit, routes: { '/a': false } }) })",
    /does not exist in type 'Write<"@RateLimit" \| "config.rateLimit">'/,
  ],
  ['fastify({ max: 5, timeWindow: 60_000 })', /'max' does not exist/],
  ["fastifyApp.get('/', { config: { rateLimit: { max: 5, timeWindow: 1 } } }, () => text)", /'max'.*Write<"limit">/s],
  ["fastifyApp.get('/', { config: { rateLimit: { limit, store } } }, () => text)", /'name' is missing/],
  [
    "fastifyApp.route({ method: 'GET', url: '/', config: { rateLimit: { limit, allowList: [text] } }, handler: () => text })",
    /'allowList'.*Write<"skip">/s,
  ],
  ["fastifyApp.get('/', { config: { rateLimit: { limit, windowMs: 5 } } }, () => text)", /'number'.*Write<"limit">/s],
  ["fastifyApp.get('/', { config: { rateLimit: { limit, cache: 5 } } }, () => text)", /'number'.*Write<"store">/s],
  ['routeLimit({ limit, onDenyed: () => text })', /'onDenyed' does not exist/],
  ['RateLimitModule.forRootAsync({ useFactory: async () => ({ policy }) })', /Property 'attributes' is missing/],
  [
    "RateLimitModule.forRootAsync({ useFactory: async () => ({ policy, attributes: () => ({ usr: 'a', tokens: 1 }) }) })",
    /usr.*user/s,
  ],
  [
    'RateLimitModule.forRootAsync({ useFactory: async (max: number) => ({ limit, max }) })',
    /'number'.*Write<"limit">/s,
  ],
  ['nest({ ttl: 60_000, limit })', /'ttl' does not exist/],
  ["node({ limiter: createLimiter({ limit }), blockFor: '1m' })", /'blockFor'.*not assignable to type 'undefined'/s],

  ['createPolicy({ levels: [{ name: text, limit }], store })', /Property 'name' is missing/],
  [
    "createPolicy({ name: 'a', levels: [], store, clock: systemClock })",
    /'clock'.*'Clock' is not assignable to type 'undefined'/s,
  ],
  ["createPolicy({ levls: [{ name: 'a', limit }] })", /'levls' does not exist.*Did you mean to write 'levels'/],
  [
    "createPolicy({ levels: [{ name: 'a', limit: { algorithm: 'token-bucket', capacity: 5, refill: '5/sec' } }] })",
    /'refill'.*"5\/sec"/s,
  ],
  ["createShaper({ drain: '5/s', capacity: 5, store })", /Property 'name' is missing/],
  ["createShaper({ drain: '5/s' })", /Property 'capacity' is missing.* 'OwnShaperOptions'/],
  ['createShaper({ concurrency: 5 })', /Property 'capacity' is missing.* 'ShaperWithoutDrainOptions'/],
  ['createShaper({ capacity: 500 })', /Property 'concurrency' is missing.* 'ShaperWithoutDrainOptions'/],
  ["createShaper({ drain: '5/s', capcity: 5 })", /'capcity' does not exist.*Did you mean to write 'capacity'/],
  ['createShaper({ drain: 5, capacity: 5 })', /'number' is not assignable to type 'Rate/],
  ["createShaper({ drain: '5/s', capacity: 5, maxConcurrent: 1 })", /'maxConcurrent' does not exist/],
  [
    "createShaper({ drain: '5/s', capacity: 5, name: 'a', store, clock: systemClock })",
    /'clock'.*'Clock' is not assignable/s,
  ],
]

/** Options are in these parentheses: `express({ limit })`, or the options that a factory returns. */
const ADAPTERS: readonly (readonly [before: string, after: string])[] = [
  ...[
    'express',
    'fastify',
    'fetchLimit',
    'hono',
    'koa',
    'nest',
    'RateLimit',
    'RateLimitModule.forRoot',
    'node',
    'routeLimit',
  ].map((name) => [`${name}(`, ')'] as const),
  ['RateLimitModule.forRootAsync({ useFactory: () => (', ') })'],
]

const WITH_ROUTES = ['express', 'fetchLimit', 'hono', 'koa', 'node']

/** Options with routes, in an adapter that has them. */
const withRoutes = (adapter: string, routes: string) => `${adapter}({ limit, key: () => text, routes: ${routes} })`

/** The same mistakes in every adapter. */
const WRONG_IN_EACH: readonly (readonly [options: string, names: RegExp])[] = [
  ['{}', /Property 'limit' is missing|'\{\}' is not assignable to type .*Options/],
  ['{ limit, policy: known }', /'TokenBucket' is not assignable to type 'undefined'/],
  ['{ limit, keyGenerator: () => text }', /'keyGenerator' does not exist|Write<"key">/],
  ['{ limit, store }', /Property 'name' is missing/],
  ['{ limit: () => limit, store: memoryStore() }', /Property 'name' is missing/],
  ['{ policy }', /Property 'attributes' is missing/],
  ['{ policy: anyStore }', /Property 'attributes' is missing/],
  ["{ policy: anyStore, attributes: () => ({ usr: 'a', tokens: 1 }) }", /usr.*user/s],
  ["{ policy, attributes: () => ({ user: 'a' }) }", /tokens/],
  ["{ policy, attributes: () => ({ usr: 'a', tokens: 1 }) }", /usr.*user/s],
  ["{ policy, attributes: async () => ({ usr: 'a', tokens: 1 }) }", /usr.*user/s],
  ['{ policy, attributes: () => ({ user: () => text, tokens: 1 }) }', /not assignable/],
  ['{ policy: known, attributes: () => ({ path: {} }) }', /not assignable/],
  ["{ policy, attributes: () => ({ user: 'a', tokens: 1 }), settle: () => ({ tokns: 1 }) }", /tokns/],
]

describe('types', () => {
  const wrong = [
    ...WRONG,
    ...WITH_ROUTES.flatMap((each) => WRONG_ROUTES.map(([routes, names]) => [withRoutes(each, routes), names] as const)),
    ...ADAPTERS.flatMap(([before, after]) =>
      WRONG_IN_EACH.map(([options, names]) => [`${before}${options}${after}`, names] as const),
    ),
  ]
  const right = [
    ...RIGHT,
    ...WITH_ROUTES.flatMap((each) => RIGHT_ROUTES.map((routes) => withRoutes(each, routes))),
    ...ADAPTERS.flatMap(([before, after]) => RIGHT_IN_EACH.map((options) => `${before}${options}${after}`)),
  ]
  let complaints: readonly (readonly Complaint[])[]

  beforeAll(async () => {
    complaints = await compilePrograms([...right, ...wrong.map(([program]) => program)])
  }, 120_000)

  it.each(right.map((program, i) => [program, i] as const))('compiles: %s', (_program, i) => {
    expect(complaints[i]).toEqual([])
  })

  it.each(wrong.map(([program, names], i) => [program, names, right.length + i] as const))(
    'does not compile, and the error names what is wrong: %s',
    (_program, names, i) => {
      expect(complaints[i]).toEqual([{ line: 1, column: expect.any(Number), message: expect.stringMatching(names) }])
      expect(complaints[i][0].message).not.toContain('No overload')
    },
  )
})
