/**
 * Routes of frameworks whose limits are middleware. The order of middleware says what a route does: behind the limit for all it
 * adds, and before it the route replaces that limit or is free.
 */
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import Router from '@koa/router'
import express5, { type Express } from 'express'
// @ts-expect-error there are types for one version only
import express4 from 'express4'
import { Hono } from 'hono'
import Koa from 'koa'
import { fixedWindow } from 'sluice'
import { rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as honoLimit } from 'sluice/hono'
import { parseRateLimit } from 'sluice/http'
import { rateLimit as koaLimit } from 'sluice/koa'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunningApp } from './app.js'
import { running, serve } from './servers.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })
/** The options that all limits of an application share. */
const clients = { trustedProxies: 'loopback' } as const
const all = { ...clients, name: 'all', limit: limit(4) }
const adding = { ...clients, name: 'search', limit: limit(2) }
const replacing = { ...clients, name: 'upload', limit: limit(2) }

function startExpress(create: () => Express): Promise<RunningApp> {
  const app = create()
  app.get('/health', (_request, response) => void response.send('ok'))
  app.get('/upload', expressLimit(replacing), (_request, response) => void response.send('ok'))
  app.use(expressLimit(all))
  app.get('/search', expressLimit(adding), (_request, response) => void response.send('ok'))
  return serve(app)
}

/** The same with routers that are mounted: the limits stand inside them. */
function startExpressRouters(): Promise<RunningApp> {
  const [free, limited] = [express5.Router(), express5.Router()]
  free.get('/health', (_request, response) => void response.send('ok'))
  free.get('/upload', expressLimit(replacing), (_request, response) => void response.send('ok'))
  limited.use(expressLimit(all))
  limited.get('/search', expressLimit(adding), (_request, response) => void response.send('ok'))
  return serve(express5().use(free).use(limited))
}

function startHono(): Promise<RunningApp> {
  const app = new Hono()
  app.get('/health', (context) => context.text('ok'))
  app.get('/upload', honoLimit(replacing), (context) => context.text('ok'))
  app.use(honoLimit(all))
  app.get('/search', honoLimit(adding), (context) => context.text('ok'))
  return running(createAdaptorServer({ fetch: app.fetch }) as Server)
}

function startKoa(): Promise<RunningApp> {
  const app = new Koa()
  const [before, behind] = [new Router(), new Router()]
  before.get('/health', (context) => {
    context.body = 'ok'
  })
  before.get('/upload', koaLimit(replacing), (context) => {
    context.body = 'ok'
  })
  behind.get('/search', koaLimit(adding), (context) => {
    context.body = 'ok'
  })
  app.use(before.routes()).use(koaLimit(all)).use(behind.routes())
  return serve(app.callback())
}

describe.each([
  ['express 5', () => startExpress(express5)],
  ['express 4', () => startExpress(express4 as unknown as () => Express)],
  ['express, in routers', startExpressRouters],
  ['hono', startHono],
  ['koa with @koa/router', startKoa],
])('a route of %s', (_name, start) => {
  let app: RunningApp
  afterEach(() => app.close())

  /** The status, and the units left by the name of the limit. */
  async function left(path: string, client = '192.0.2.1') {
    const response = await fetch(app.origin + path, { headers: { 'x-forwarded-for': client } })
    await response.arrayBuffer()
    const { quotas } = parseRateLimit(response.headers)
    return [response.status, Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))]
  }

  it('behind the limit for all adds to it, and knows the same clients by the same options', async () => {
    app = await start()
    expect(await left('/search')).toEqual([200, { all: 3, search: 1 }])
    expect(await left('/search')).toEqual([200, { all: 2, search: 0 }])
    expect(await left('/search')).toEqual([429, { all: 1, search: 0 }])
    expect(await left('/search', '192.0.2.2')).toEqual([200, { all: 3, search: 1 }])
  })

  it('with a limit before that for all replaces it, and takes nothing from it', async () => {
    app = await start()
    expect(await left('/upload')).toEqual([200, { upload: 1 }])
    expect(await left('/upload')).toEqual([200, { upload: 0 }])
    expect(await left('/upload')).toEqual([429, { upload: 0 }])
    expect(await left('/nothing')).toEqual([404, { all: 3 }])
  })

  it('before the limit for all is free, also for a client that has used everything up', async () => {
    app = await start()
    for (let i = 0; i < 4; i++) await left('/nothing')
    expect(await left('/nothing')).toEqual([429, { all: 0 }])
    expect(await left('/health')).toEqual([200, {}])
    expect(await left('/upload')).toEqual([200, { upload: 1 }])
  })
})
