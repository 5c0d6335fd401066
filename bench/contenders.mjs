// Who is compared. A contender is a function of a limit, `{ capacity, perHour }`, that gives
// `{ ask(key), isAllowed(answer) }`, and `isAsync: true` when `ask` promises its answer. Each is loaded only where it
// is measured, so that a process holds one of them.

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

/** Those that decide and remember, as against those that show what the others are made of. */
export const deciders = ['sluice', 'map', 'limiter', 'express-rate-limit', 'rate-limiter-flexible']
