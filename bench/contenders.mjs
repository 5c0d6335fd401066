// The contenders in memory. A contender is a function of a limit, `{ capacity, perHour }`, and of the number of keys. It
// returns `{ ask(key), isAllowed(answer) }`, and `isAsync: true` if `ask` returns a promise. A process loads only the
// contender that it measures.

export const contenders = {
  strings: {
    title: 'making the key string',
    load: async () => (await import('./contenders/strings.mjs')).strings,
  },
  clock: {
    title: 'reading the clock',
    load: async () => (await import('./contenders/clock.mjs')).clock,
  },
  floor: {
    title: 'floor',
    load: async () => (await import('./contenders/floor.mjs')).floor,
  },
  sluice: {
    title: 'sluice',
    load: async () => (await import('./contenders/sluice.mjs')).sluice,
  },
  map: {
    title: '`Map` of buckets',
    load: async () => (await import('./contenders/map.mjs')).map,
  },
  limiter: {
    title: 'limiter',
    load: async () => (await import('./contenders/limiter.mjs')).limiter,
  },
  'express-rate-limit': {
    title: 'express-rate-limit',
    load: async () => (await import('./contenders/express-rate-limit.mjs')).expressRateLimit,
  },
  'rate-limiter-flexible': {
    title: 'rate-limiter-flexible',
    load: async () => (await import('./contenders/rate-limiter-flexible.mjs')).rateLimiterFlexible,
  },
}

/** The contenders that decide. The others show what parts of a decision cost. */
export const deciders = ['sluice', 'map', 'limiter', 'express-rate-limit', 'rate-limiter-flexible']
