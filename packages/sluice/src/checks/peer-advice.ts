/**
 * Options of other libraries, and what each is called here. An error for an unknown option looks here first, so that a
 * caller who comes from another library reads the right name and an example. The names are those of express-rate-limit,
 * rate-limiter-flexible, @fastify/rate-limit, @nestjs/throttler, bottleneck, p-queue, p-throttle and limiter.
 */

/** A limit as code writes it, `fixedWindow({ quota: 100, window: '1m' })`, in two parts. */
type Example = readonly [maker: string, numbers: string]

interface PeerOption {
  /** What it is called here. The first name that the caller can use is the advice. */
  readonly here?: readonly string[]
  /** The limit that does the same. */
  readonly limit?: Example
  /** How our option is written to do the same, if its usual example does another thing. */
  readonly example?: string
  /** The advice if none of the names can be used. */
  readonly otherwise?: string
  /** The advice above is for callers who can use one of these options. Unless given, it is for all. */
  readonly otherwiseWith?: readonly string[]
}

const FIXED_WINDOW: Example = ['fixedWindow', "quota: 100, window: '1m'"]
const SLIDING_WINDOW: Example = ['slidingWindow', "quota: 1000, window: '1s', slices: 10"]
const SLIDING_LOG: Example = ['slidingLog', "quota: 5, window: '1s'"]
const TOKEN_BUCKET: Example = ['tokenBucket', "capacity: 20, refill: '5/s'"]
const LEAKY_BUCKET: Example = ['leakyBucket', "capacity: 50, drain: '10/s'"]
const CONCURRENCY: Example = ['concurrency', "max: 20, ttl: '30s'"]

const ANSWERS = 'a denial is a value of a limiter, and in Nest a RateLimitException, which an exception filter answers'
const OF_ROUTES =
  'only the limit of a route has it: in `routes` of rateLimit, in config.rateLimit of Fastify, and in @RateLimit of Nest'
const BESIDE_ROUTES =
  'a route of Fastify has its limit in config.rateLimit, and a route of Nest in @RateLimit. rateLimit has `routes` in Express, Hono, ' +
  'Koa, sluice/fetch and sluice/node'
const BY_UNITS = `createLimiter({ limit: ${called(TOKEN_BUCKET)} }) and acquire wait for units`
const IN_ANY_WINDOW = `createLimiter({ limit: ${called(SLIDING_LOG)} }) and acquire start at most 5 in any second`
const BOUNDS_THE_WORK =
  'work bounds its own time, as in run(() => fetch(url, { signal: AbortSignal.timeout(5000) })). maxWaitMs of a call bounds only its wait'

const SETS_THE_DEADLINE = 'redisStore(client, { deadlineMs: 50 }) bounds the wait for Redis'
const BLOCKS_A_KEY =
  "limiter.block(key, { duration: '1d' }) denies a key everything, and so does a level of a policy whose limit has a quota of 0"
const REFUSES_CALLERS = 'leave it out: a queue that is full refuses a caller, and drops none'

/** The second argument of `createLimiters` has no limit and no name. */
const IN_THE_FIRST_ARGUMENT = {
  otherwise: `it is in the first argument, as in createLimiters({ search: ${called(FIXED_WINDOW)} })`,
  otherwiseWith: ['maxWaiters'],
}

/** The peers' options by what they mean. */
const MEANINGS: readonly (readonly [names: string, option: PeerOption])[] = [
  // How many.
  [
    'max limit quota maxRequests requests intervalCap reservoir',
    { here: ['quota', 'drain', 'capacity', 'max', 'limit', 'levels'], ...IN_THE_FIRST_ARGUMENT },
  ],
  ['points', { here: ['quota', 'drain', 'capacity', 'max', 'limit', 'levels', 'cost'], ...IN_THE_FIRST_ARGUMENT }],
  ['tokensPerInterval bucketSize burst', { here: ['capacity', 'quota', 'limit', 'levels'], limit: TOKEN_BUCKET }],
  ['highWater maxQueue queueLimit capacity', { here: ['capacity', 'quota', 'limit', 'levels'], limit: TOKEN_BUCKET }],
  ['weight tokens', { here: ['cost'] }],
  ['concurrency maxConcurrent', { here: ['concurrency', 'max', 'limit', 'levels'], limit: CONCURRENCY }],
  // In how long.
  [
    'windowMs window timeWindow duration interval ttl expire windowSize',
    { here: ['window', 'refill', 'drain', 'limit', 'levels'], ...IN_THE_FIRST_ARGUMENT },
  ],
  ['slices align', { here: ['limit', 'levels'], limit: SLIDING_WINDOW }],
  [
    'rate refill drain fillInterval refillRate leakRate minTime',
    { here: ['refill', 'drain', 'window', 'limit', 'levels'], limit: TOKEN_BUCKET },
  ],
  [
    'reservoirRefreshInterval reservoirRefreshAmount',
    { here: ['window', 'refill', 'drain', 'limit', 'levels'], otherwise: BY_UNITS },
  ],
  [
    'reservoirIncreaseInterval reservoirIncreaseAmount reservoirIncreaseMaximum',
    { here: ['refill', 'drain', 'limit', 'levels'], limit: TOKEN_BUCKET, otherwise: BY_UNITS },
  ],
  ['execEvenly execEvenlyMinDelayMs', { here: ['drain', 'limit', 'levels'], limit: LEAKY_BUCKET }],
  // For which client.
  [
    'keyGenerator getTracker generateKey identifyClient',
    { here: ['key', 'keyOf'], otherwise: "the key is an argument of every call, as in limiter.tryAcquire('user:42')" },
  ],
  ['keyPrefix identifier nameSpace namespace', { here: ['name', 'prefix'], ...IN_THE_FIRST_ARGUMENT }],
  ['ipv6Subnet', { here: ['ipv6Prefix'] }],
  ['trustProxy', { here: ['trustedProxies'] }],
  [
    'allowList allowlist whitelist whiteList isWhiteListed skipIf ignoreUserAgents',
    { here: ['skip', 'when'], otherwise: 'leave such a key out: do not ask the limiter', otherwiseWith: ['limit'] },
  ],
  ['blackList isBlackListed denyList', { otherwise: BLOCKS_A_KEY, otherwiseWith: ['limit', 'levels'] }],
  ['groupId', { otherwise: 'a level of a policy counts several paths together, by its when' }],
  ['throttlers', { here: ['levels', 'limit'], otherwise: 'each throttler is a limit with a name of its own' }],
  ['instead', { otherwise: OF_ROUTES }],
  ['routes', { otherwise: BESIDE_ROUTES }],
  ['shadow', { otherwise: "a level of a policy has it, as in { name: 'stricter', key: ['ip'], limit, shadow: true }" }],
  ['global', { otherwise: 'rateLimit() without options leaves every route free that has no limit of its own' }],
  // How a denied request is answered.
  ['message handler errorMessage errorResponseBuilder onLimitReached', { here: ['onDenied'], otherwise: ANSWERS }],
  ['statusCode', { here: ['status'] }],
  ['standardHeaders legacyHeaders headers enableDraftSpec addHeaders setHeaders', { here: ['dialect'] }],
  ['addHeadersOnExceeding draft_polli_ratelimit_headers', { here: ['dialect'] }],
  ['onExceeded onExceeding', { here: ['onDecision'] }],
  [
    'retryAfter',
    {
      otherwise:
        'leave it out: Retry-After is the true wait. jitterMs of rateLimit spreads clients that would come back together',
    },
  ],
  ['requestPropertyName', { otherwise: 'rateLimitOf(request) returns the decisions about a request' }],
  ['ban onBanReach blockDuration continueExceeding exponentialBackoff', { here: ['blockFor'] }],
  // What counts in the end.
  ['skipSuccessfulRequests requestWasSuccessful', { here: ['settle'] }],
  ['skipFailedRequests', { here: ['settle'], example: 'settle: ({ status, taken }) => (status >= 400 ? 0 : taken)' }],
  // Where it is counted.
  ['storeClient redis redisClient client sendCommand datastore clientOptions storage', { here: ['store'] }],
  ['storeType clusterNodes Redis connection', { here: ['store'] }],
  ['cache', { here: ['maxKeys', 'store'], example: 'store: memoryStore({ maxKeys: 5_000 })' }],
  [
    'tableName dbName tableCreated',
    { otherwise: 'a database needs a store of your own, which storeContract tests', otherwiseWith: ['store'] },
  ],
  [
    'useRedisPackage useRedis3AndLowerPackage',
    { otherwise: 'leave it out: redisStore knows the package of its client', otherwiseWith: ['store', 'deadlineMs'] },
  ],
  ['insuranceLimiter rejectIfRedisNotReady', { here: ['onFailure'] }],
  ['passOnStoreError skipOnError', { here: ['onFailure'], example: "onFailure: 'open'" }],
  [
    'inMemoryBlockOnConsumed inMemoryBlockDuration',
    { otherwise: 'leave it out: denials of one turn of the event loop share a call of Redis' },
  ],
  ['validate logger', { otherwise: 'leave it out: a wrong option always throws' }],
  // How callers wait.
  ['retry retryLimit maxRetries', { here: ['retries'] }],
  [
    'timeout expiration throwOnTimeout',
    { here: ['deadlineMs'], otherwise: BOUNDS_THE_WORK, otherwiseWith: ['maxWaitMs', 'drain'] },
  ],
  ['timeoutMs', { here: ['deadlineMs'], otherwise: SETS_THE_DEADLINE, otherwiseWith: ['onFailure'] }],
  ['strict', { here: ['limit', 'levels'], limit: SLIDING_LOG, otherwise: IN_ANY_WINDOW }],
  ['strategy queueClass rejectOnDrop', { otherwise: REFUSES_CALLERS }],
  ['penalty', { here: ['blockFor'], otherwise: REFUSES_CALLERS, otherwiseWith: ['drain'] }],
  ['autoStart', { otherwise: 'call pause() of the shaper first, and resume() to start it' }],
  [
    'carryoverConcurrencyCount carryoverIntervalCount',
    { otherwise: 'leave it out: a limit of units and a limit of places count apart' },
  ],
]

const PEER_OPTIONS: ReadonlyMap<string, PeerOption> = new Map(
  MEANINGS.flatMap(([names, option]) => names.split(' ').map((name) => [name, option] as const)),
)

/** How our options are written. Those of limits stand beside each other, as in the limit's own example. */
const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ['quota', FIXED_WINDOW[1]],
  ['window', FIXED_WINDOW[1]],
  ['capacity', TOKEN_BUCKET[1]],
  ['refill', TOKEN_BUCKET[1]],
  ['drain', LEAKY_BUCKET[1]],
  ['max', CONCURRENCY[1]],
  ['concurrency', 'concurrency: 5'],
  ['cost', 'cost: 3'],
  ['key', 'key: (request, client) => userOf(request) ?? client'],
  ['keyOf', 'keyOf: (request) => new URL(request.url).host'],
  ['name', "name: 'search'"],
  ['prefix', "prefix: 'app:'"],
  ['ipv6Prefix', 'ipv6Prefix: 64'],
  ['trustedProxies', "trustedProxies: 'loopback'"],
  ['skip', "skip: (request, address) => address === '192.0.2.7'"],
  ['when', "when: { plan: { not: 'gold' } }"],
  ['onDenied', "onDenied: (request, response) => response.end('slow down')"],
  ['status', 'status: 503'],
  ['dialect', "dialect: ['draft', 'legacy']"],
  ['onDecision', 'onDecision: (verdict) => console.log(verdict.deniedBy)'],
  ['blockFor', "blockFor: '15m'"],
  ['settle', 'settle: ({ status, taken }) => (status < 400 ? 0 : taken)'],
  ['store', 'store: redisStore(client)'],
  ['onFailure', "onFailure: 'local'"],
  ['retries', 'retries: 3'],
  ['maxWaitMs', 'maxWaitMs: 5000'],
  ['signal', 'signal: AbortSignal.timeout(5000)'],
  ['deadlineMs', 'deadlineMs: 50'],
])

/**
 * The advice for an option that another library has, if it is known: "keyGenerator is `key` here, as in { key: … }". `known`
 * are the options that the caller can use.
 */
export function peerAdvice(name: string, known: readonly string[]): string | undefined {
  const option = PEER_OPTIONS.get(name)
  const ours = option?.here?.find((each) => known.includes(each))
  if (option === undefined || ours === undefined) return otherwiseOf(option, known)
  const isPart = ours === 'limit' || ours === 'levels' || (isRate(ours) && PEER_OPTIONS.get(ours) !== option)
  return `${name} is ${isPart ? 'part of ' : ''}\`${ours}\` here, as in { ${exampleOf(ours, known, option)} }`
}

function otherwiseOf(option: PeerOption | undefined, known: readonly string[]): string | undefined {
  const isMeant = option?.otherwiseWith?.some((each) => known.includes(each)) ?? true
  return isMeant ? option?.otherwise : undefined
}

/** Both the number and the time of a rate are in one option. */
function isRate(ours: string): boolean {
  return ours === 'refill' || ours === 'drain'
}

function exampleOf(ours: string, known: readonly string[], { limit = FIXED_WINDOW, example }: PeerOption): string {
  if (ours === 'maxKeys') return 'maxKeys: 5_000'
  if (example?.startsWith('store:') && known.includes('name')) return `name: 'search', ${example}`
  if (example !== undefined) return example
  const isLevel = known.includes('when')
  if (ours === 'limit') return `limit: ${isLevel ? asData(limit) : called(limit)}`
  if (ours === 'levels') return `levels: [{ name: 'all', limit: ${called(limit)} }]`
  if (ours === 'key' && isLevel) return "key: ['user']"
  if (ours === 'key' && known.includes('priority')) return "key: 'user:42'"
  if (ours === 'capacity' && known.includes('drain')) return LEAKY_BUCKET[1]
  return EXAMPLES.get(ours) ?? ours
}

function called([maker, numbers]: Example): string {
  return `${maker}({ ${numbers} })`
}

/** A limit as code and files can write it: `{ algorithm: 'fixed-window', quota: 100, window: '1m' }`. */
function asData([maker, numbers]: Example): string {
  return `{ algorithm: '${maker.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}', ${numbers} }`
}
