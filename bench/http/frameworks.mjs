// Applications of each framework with one route: bare, or behind a limiter that admits every request and sets the fields.

const QUOTA = 1_000_000
const REFILL_MS = 1_000

/** The options of the limit in front of every application. */
export const sluiceOptions = async () => {
  const { tokenBucket } = await import('sluice')
  // Each client takes more than the bucket refills, so that it has a state, like a real client that keeps calling.
  return { limit: tokenBucket({ capacity: QUOTA, refill: '1/s' }) }
}

/** No limiter that sets the fields can be faster: two fields that never change, set by the framework itself. */
const FIELDS = { 'ratelimit-policy': '"default";q=1000000;w=1000000', ratelimit: '"default";r=999999;t=1' }
const constantFields = 'two constant fields'

/** The least that a limiter can do: a token bucket for each key in a `Map` that never forgets. A negative number denies. */
function sketchOfBuckets() {
  const buckets = new Map()
  return (key) => {
    const nowMs = performance.now()
    let bucket = buckets.get(key)
    if (bucket === undefined) {
      bucket = { tokens: QUOTA, atMs: nowMs }
      buckets.set(key, bucket)
    }
    bucket.tokens = Math.min(QUOTA, bucket.tokens + (nowMs - bucket.atMs) / REFILL_MS)
    bucket.atMs = nowMs
    return bucket.tokens < 1 ? -1 : Math.floor(--bucket.tokens)
  }
}
const fieldOf = (remaining) => `"default";r=${remaining};t=1`
const sketch = 'a sketch'

/** Starts an Express application, with `use(app)` before its route, and promises the port. */
export const express = async (use) => {
  const { default: create } = await import('express')
  const app = create()
  await use(app)
  app.get('/', (_request, response) => response.send('hello'))
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server.address().port))
  })
}

/** The same with Fastify. */
export const fastify = async (use) => {
  const { fastify: create } = await import('fastify')
  const app = create()
  await use(app)
  app.get('/', (_request, reply) => reply.send('hello'))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server.address().port
}

/** The same with Hono. */
export const hono = async (use) => {
  const { Hono } = await import('hono')
  const { serve } = await import('@hono/node-server')
  const app = new Hono()
  await use(app)
  app.get('/', (context) => context.text('hello'))
  return new Promise((resolve) =>
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port)),
  )
}

/** Starts an application, by its framework and by the middleware before its route. Each function promises the port. */
export const frameworks = {
  express: {
    bare: () => express(() => {}),
    sluice: () => express(async (app) => app.use((await import('sluice/express')).rateLimit(await sluiceOptions()))),
    [constantFields]: () =>
      express((app) =>
        app.use((_request, response, next) => {
          for (const name in FIELDS) response.setHeader(name, FIELDS[name])
          next()
        }),
      ),
    [sketch]: () =>
      express((app) => {
        const take = sketchOfBuckets()
        app.use((request, response, next) => {
          const remaining = take(request.socket.remoteAddress)
          response.setHeader('ratelimit-policy', FIELDS['ratelimit-policy'])
          response.setHeader('ratelimit', fieldOf(remaining))
          if (remaining < 0) response.status(429).end()
          else next()
        })
      }),
    'express-rate-limit': () =>
      express(async (app) => {
        const { rateLimit } = await import('express-rate-limit')
        app.use(rateLimit({ limit: QUOTA, windowMs: 60_000, standardHeaders: 'draft-8', legacyHeaders: false }))
      }),
  },
  fastify: {
    bare: () => fastify(() => {}),
    sluice: () =>
      fastify(async (app) => app.register((await import('sluice/fastify')).rateLimit(await sluiceOptions()))),
    [constantFields]: () =>
      fastify((app) =>
        app.addHook('onRequest', (_request, reply, next) => {
          for (const name in FIELDS) reply.header(name, FIELDS[name])
          next()
        }),
      ),
    [sketch]: () =>
      fastify((app) => {
        const take = sketchOfBuckets()
        app.addHook('onRequest', (request, reply, next) => {
          const remaining = take(request.socket.remoteAddress)
          reply.header('ratelimit-policy', FIELDS['ratelimit-policy'])
          reply.header('ratelimit', fieldOf(remaining))
          if (remaining < 0) reply.code(429).send()
          else next()
        })
      }),
    '@fastify/rate-limit': () =>
      fastify(async (app) => {
        await app.register(import('@fastify/rate-limit'), { max: QUOTA, timeWindow: 60_000 })
      }),
  },
  hono: {
    bare: () => hono(() => {}),
    sluice: () => hono(async (app) => app.use((await import('sluice/hono')).rateLimit(await sluiceOptions()))),
    [constantFields]: () =>
      hono((app) =>
        app.use((context, next) => {
          for (const name in FIELDS) context.header(name, FIELDS[name])
          return next()
        }),
      ),
    [sketch]: () =>
      hono((app) => {
        const take = sketchOfBuckets()
        app.use((context, next) => {
          const remaining = take(context.env.incoming.socket.remoteAddress)
          context.header('ratelimit-policy', FIELDS['ratelimit-policy'])
          context.header('ratelimit', fieldOf(remaining))
          return remaining < 0 ? context.body(null, 429) : next()
        })
      }),
    'hono-rate-limiter': () =>
      hono(async (app) => {
        const { rateLimiter } = await import('hono-rate-limiter')
        const keyGenerator = (context) => context.env.incoming.socket.remoteAddress
        app.use(rateLimiter({ limit: QUOTA, windowMs: 60_000, standardHeaders: 'draft-7', keyGenerator }))
      }),
  },
}
