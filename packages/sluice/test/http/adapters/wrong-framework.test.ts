/** The adapter of one framework, put into another. */
import express from 'express'
import { fastify } from 'fastify'
import Koa from 'koa'
import { fixedWindow } from 'sluice'
import { rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as fastifyLimit } from 'sluice/fastify'
import { rateLimit as honoLimit } from 'sluice/hono'
import { rateLimit as koaLimit } from 'sluice/koa'
import { rateLimit as nodeLimit } from 'sluice/node'
import { describe, expect, it } from 'vitest'
import { serve } from './servers.js'
import { warningsOf } from './warnings-of.js'

const options = { limit: fixedWindow({ quota: 2, window: '1m' }) }
const NAMES_ALL = 'sluice/express, sluice/fastify, sluice/nest, sluice/koa, sluice/hono, sluice/fetch or sluice/node'

describe('the error for an adapter in another framework names the right ones', () => {
  it('Express in a hook of Fastify', async () => {
    const app = fastify()
    app.addHook('onRequest', expressLimit(options) as never)
    app.get('/', () => 'ok')
    const { statusCode, body } = await app.inject('/')
    expect(statusCode).toBe(500)
    expect(JSON.parse(body).message).toBe(
      `rateLimit of sluice/express was called by another framework: import it from ${NAMES_ALL}`,
    )
    await app.close()
  })

  it('node in a hook of Fastify', async () => {
    const app = fastify()
    app.addHook('onRequest', nodeLimit(options) as never)
    app.get('/', () => 'ok')
    expect((await app.inject('/')).json().message).toContain(NAMES_ALL)
    await app.close()
  })

  it('Express as a plugin of Fastify', async () => {
    const app = fastify()
    const registered = async () => app.register(expressLimit(options) as never)
    await expect(registered()).rejects.toThrow(NAMES_ALL)
  })

  it.each([
    ['Koa', koaLimit(options)],
    ['Hono', honoLimit(options)],
  ])('%s in Express', async (_name, limited) => {
    const errors: unknown[] = []
    const app = express().use(limited as never)
    app.use(((error, _request, response, _next) => {
      errors.push((error as Error).message)
      response.end()
    }) as express.ErrorRequestHandler)
    const running = await serve(app)
    await (await fetch(running.origin)).text()
    await running.close()
    expect(errors).toEqual([expect.stringContaining(NAMES_ALL)])
  })

  it('Express in Koa', async () => {
    const errors: unknown[] = []
    const app = new Koa().use(expressLimit(options) as never).on('error', (error: Error) => errors.push(error.message))
    const running = await serve(app.callback())
    await (await fetch(running.origin)).text()
    await running.close()
    expect(errors).toEqual([expect.stringContaining(NAMES_ALL)])
  })
})

it.each(['ratelimit', 'rate_limit', 'RateLimit'])(
  'config.%s of Fastify has no effect, and a warning says so',
  async (name) => {
    const app = fastify()
    await app.register(fastifyLimit(options))
    const warnings = await warningsOf(async () => {
      app.get('/a', { config: { [name]: options } }, () => 'ok')
    })
    const text = `config.${name} of GET /a has no effect: write config.rateLimit`
    expect(warnings).toEqual([['SLUICE_ROUTE', text]])
    await app.close()
  },
)
