// The contenders on Redis. A contender is an async function of the server's port and a limit, `{ capacity, perHour }`. It
// opens its own connection and returns `{ ask(key), isAllowed(answer) }`, where `ask` returns a promise. A process loads
// only the contender that it measures.

const sluice = (name) => async () => (await import('./redis-contenders/sluice-ioredis.mjs'))[name]

export const redisContenders = {
  sluice: {
    title: 'sluice',
    load: sluice('sluiceTokenBucket'),
  },
  'rate-limiter-flexible': {
    title: 'rate-limiter-flexible',
    load: async () => (await import('./redis-contenders/rate-limiter-flexible.mjs')).rateLimiterFlexible,
  },
  'rate-limit-redis': {
    title: 'rate-limit-redis',
    load: async () => (await import('./redis-contenders/rate-limit-redis.mjs')).rateLimitRedis,
  },
  article: {
    title: "the article's script",
    load: async () => (await import('./redis-contenders/article.mjs')).article,
  },
  incr: {
    title: '`INCR`',
    load: async () => (await import('./redis-contenders/incr.mjs')).incr,
  },
  'rate-limiter-flexible-pipelined': {
    title: 'rate-limiter-flexible, auto-pipelining',
    load: async () => (await import('./redis-contenders/rate-limiter-flexible.mjs')).rateLimiterFlexiblePipelined,
  },
  'sluice-node-redis': {
    title: 'sluice on node-redis',
    load: async () => (await import('./redis-contenders/sluice-node-redis.mjs')).sluiceNodeRedis,
  },
  'sluice-leaky-bucket': {
    title: 'sluice, leaky bucket',
    load: sluice('sluiceLeakyBucket'),
  },
  'sluice-fixed-window': {
    title: 'sluice, fixed window',
    load: sluice('sluiceFixedWindow'),
  },
  'sluice-sliding-window': {
    title: 'sluice, sliding window',
    load: sluice('sluiceSlidingWindow'),
  },
  'sluice-sliding-log': {
    title: 'sluice, sliding log',
    load: sluice('sluiceSlidingLog'),
  },
}

/** The contenders that goals name. */
export const rivals = ['sluice', 'rate-limiter-flexible', 'rate-limit-redis', 'article', 'incr']
