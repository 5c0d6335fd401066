import 'reflect-metadata'
import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { createLimiter, fixedWindow, type Limiter } from 'sluice'
import { rateLimit, rateLimitOf } from 'sluice/express'
import { rateLimit as fastifyLimit } from 'sluice/fastify'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as honoLimit } from 'sluice/hono'
import { Guard } from 'sluice/http'
import { rateLimit as koaLimit } from 'sluice/koa'
import { rateLimit as nestLimit } from 'sluice/nest'
import { rateLimit as nodeLimit } from 'sluice/node'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunningApp } from './adapters/app.js'
import { serve } from './adapters/servers.js'
import { warningsOf } from './adapters/warnings-of.js'

const limit = fixedWindow({ quota: 2, window: '100d' })
const reader = { method: () => 'GET', url: () => '/', field: () => undefined }

/** Makes an application of a framework with a limiter. Its handler tells the request. */
type Inside = (limiter: Limiter, tell: (request: object) => void) => Promise<RequestListener>

/** A guard of Nest, as Nest on Fastify calls it. */
async function nestOnFastify(limiter: Limiter, tell: (request: object) => void): Promise<RequestListener> {
  const guard = nestLimit({ limiter })
  const app = fastify()
  app.get('/', async (request, reply) => {
    const http = { getRequest: () => request, getResponse: () => reply }
    const context = { getType: () => 'http', getHandler: () => tell, getClass: () => Object, switchToHttp: () => http }
    await guard.canActivate(context as never)
    tell(request)
    return 'ok'
  })
  await app.ready()
  return app.routing as RequestListener
}

const FRAMEWORKS: readonly (readonly [name: string, inside: Inside])[] = [
  [
    'fastify',
    async (limiter, tell) => {
      const app = fastify()
      app.register(fastifyLimit({ limiter }))
      app.get('/', async (request) => {
        tell(request)
        return 'ok'
      })
      await app.ready()
      return app.routing as RequestListener
    },
  ],
  [
    'koa',
    async (limiter, tell) => {
      const app = new Koa()
      app.use(koaLimit({ limiter }))
      app.use((context) => {
        tell(context)
        context.body = 'ok'
      })
      return app.callback()
    },
  ],
  [
    'hono',
    async (limiter, tell) => {
      const app = new Hono().use(honoLimit({ limiter })).get('/', (context) => {
        tell(context)
        return context.text('ok')
      })
      return getRequestListener(app.fetch)
    },
  ],
  ['nest on fastify', nestOnFastify],
]

describe('a limiter in front of a framework and in it', () => {
  let app: RunningApp | undefined
  afterEach(() => app?.close())

  it.each(FRAMEWORKS)('counts a request once in %s, and one warning says so', async (_name, inside) => {
    const limiter = createLimiter({ limit, name: 'same' })
    const told: unknown[] = []
    const names = (request: object) => told.push(rateLimitOf(request)?.levels.map(({ name }) => name))
    app = await serve(inFront(nodeLimit({ limiter }), await inside(limiter, names)))
    const { origin } = app
    const warnings = await warningsOf(async () => (await fetch(origin)).text())
    expect(limiter.peek('127.0.0.1').remaining).toBe(1)
    expect(warnings.map(([code]) => code)).toEqual(['SLUICE_TWICE'])
    expect(told).toEqual([['same']])
  })

  it.each(FRAMEWORKS)('of another limiter is told to the handler of %s with the inner one', async (_name, inside) => {
    const told: unknown[] = []
    const names = (request: object) => told.push(rateLimitOf(request)?.levels.map(({ name }) => name))
    const inner = await inside(createLimiter({ limit, name: 'inner' }), names)
    app = await serve(inFront(nodeLimit({ limit, name: 'outer' }), inner))
    await (await fetch(app.origin)).text()
    expect(told).toEqual([['outer', 'inner']])
  })

  it('is one limiter also for a fetch handler around Hono', async () => {
    const limiter = createLimiter({ limit })
    const key = () => 'a'
    const hono = new Hono().use(honoLimit({ limiter, key })).get('/', (context) => context.text('ok'))
    const handler = fetchLimit({ limiter, key })((request) => hono.fetch(request))
    const warnings = await warningsOf(async () => handler(new Request('http://localhost/')))
    expect(limiter.peek('a').remaining).toBe(1)
    expect(warnings.map(([code]) => code)).toEqual(['SLUICE_TWICE'])
  })

  it('counts each of several requests that a handler of Hono sends on with the same environment', async () => {
    const limiter = createLimiter({ limit })
    const hono = new Hono().use(honoLimit({ limiter, key: () => 'a' })).get('/', (context) => context.text('ok'))
    const env = { incoming: {} }
    for (let i = 0; i < 2; i++) await hono.fetch(new Request('http://localhost/'), env)
    expect(limiter.peek('a').remaining).toBe(0)
  })
})

/** A handler with the limit of `sluice/node` in front of it. */
function inFront(limited: ReturnType<typeof nodeLimit>, inner: RequestListener): RequestListener {
  return (request, response) => limited(request, response, () => inner(request, response))
}

describe('a request that meets a limiter twice', () => {
  let app: RunningApp | undefined
  afterEach(() => app?.close())

  it('counts once if a middleware is in front of the application and of a router in it', async () => {
    const limited = rateLimit({ limit })
    const router = express.Router()
    router.use(limited)
    router.get('/', (_request, response) => void response.send('ok'))
    app = await serve(express().use(limited).use('/inner', router))
    const { origin } = app
    const statuses: number[] = []
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 3; i++) statuses.push((await fetch(`${origin}/inner`)).status)
    })
    expect(statuses).toEqual([200, 200, 429])
    expect(warnings.map(([code]) => code)).toEqual(['SLUICE_TWICE'])
  })

  it('is denied again if it was denied, and is told to onDecision once', async () => {
    const decisions: boolean[] = []
    const limiter = createLimiter({ limit })
    const onDecision = ({ allowed }: { allowed: boolean }) => void decisions.push(allowed)
    const guard = new Guard<object>({ limiter, key: () => 'a', onDecision }, reader)
    await warningsOf(async () => {
      for (let i = 0; i < 2; i++) guard.enter({})
      const request = {}
      expect(await guard.enter(request)).toMatchObject({ allowed: false })
      expect(await guard.enter(request)).toMatchObject({ allowed: false })
    })
    expect(decisions).toEqual([true, true, false])
  })

  it('counts again under a key that has changed in between', async () => {
    const limiter = createLimiter({ limit })
    const guard = new Guard<{ user?: string }>({ limiter, key: ({ user }) => user ?? 'unknown' }, reader)
    const request: { user?: string } = {}
    await guard.enter(request)
    request.user = 'ann'
    const warnings = await warningsOf(async () => guard.enter(request))
    expect([limiter.peek('unknown').remaining, limiter.peek('ann').remaining]).toEqual([1, 1])
    expect(warnings).toEqual([])
  })

  it('counts several times if the adapter says so', async () => {
    const limiter = createLimiter({ limit })
    const guard = new Guard<object>({ limiter, key: () => 'a' }, reader)
    const request = {}
    for (let i = 0; i < 2; i++) await guard.enter(request, { mayRepeat: true })
    expect(limiter.peek('a').remaining).toBe(0)
  })
})
