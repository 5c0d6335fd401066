/** The paths of `routes` are whole paths, wherever the limit stands. */
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
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
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RunningApp } from './app.js'
import { running, serve } from './servers.js'

const limit = fixedWindow({ quota: 9, window: '100d' })
const options = {
  limit,
  name: 'all',
  routes: {
    '/api/search': { limit, name: 'search' },
    '/api/upload': { limit, name: 'upload', instead: true },
    '/api/health': false,
    '/search': { limit, name: 'elsewhere' },
  },
} as const

function startExpress(express: typeof express5): Promise<RunningApp> {
  const app: Express = express()
  const api = express.Router()
  api.use(expressLimit(options))
  api.use((_request, response) => void response.send('ok'))
  app.use('/api', api)
  return serve(app)
}

function startHono(): Promise<RunningApp> {
  const api = new Hono()
  api.use(honoLimit(options))
  api.all('*', (context) => context.text('ok'))
  const app = new Hono()
  app.route('/api', api)
  return running(createAdaptorServer({ fetch: app.fetch }) as Server)
}

/** The names of the limits that a path meets. */
async function limitsAt(app: RunningApp, path: string): Promise<readonly (string | undefined)[]> {
  const { headers } = await fetch(app.origin + path)
  return parseRateLimit(headers).quotas.map(({ name }) => name)
}

describe('the path of a route is the whole path', () => {
  it.each([
    ['express 5', () => startExpress(express5)],
    ['express 4', () => startExpress(express4 as typeof express5)],
    ['hono', startHono],
  ])('inside a mounted router of %s', async (_name, start) => {
    const app = await start()
    onTestFinished(() => app.close())
    expect(await limitsAt(app, '/api/search')).toEqual(['all', 'search'])
    expect(await limitsAt(app, '/api/upload')).toEqual(['upload'])
    expect(await limitsAt(app, '/api/health')).toEqual([])
    expect(await limitsAt(app, '/api/other')).toEqual(['all'])
  })

  it('of which a part is cut off, as by koa-mount: routes add under either path, and take away under neither', async () => {
    const koa = new Koa()
    koa.use((context, next) => {
      context.path = context.path.replace('/api', '')
      return next()
    })
    koa.use(koaLimit(options))
    const app = await serve(koa.callback())
    onTestFinished(() => app.close())
    expect(await limitsAt(app, '/api/search')).toEqual(['all', 'search', 'elsewhere'])
    expect(await limitsAt(app, '/api/upload')).toEqual(['all', 'upload'])
    expect(await limitsAt(app, '/api/health')).toEqual(['all'])
  })
})
