import express from 'express'
import { Hono } from 'hono'
import { createPolicy, fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/express'
import { rateLimit as honoLimit } from 'sluice/hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serve } from '../adapters/servers.js'
import { limitedServer, raw, statusIn } from './limited-server.js'

const limit = fixedWindow({ quota: 1, window: '100d' })
const policyOf = () => createPolicy({ levels: [{ name: 'charges', when: { path: '/v1/charges' }, limit }] })

describe('a level of a path', () => {
  it.each([
    '//v1//charges',
    '///v1/charges',
    '/v1/charges/',
    '/v1/charges//',
    '/v1/%63harges',
    '/%76%31/%63%68%61%72%67%65%73',
    '/v1/x/../charges',
    '/v1/x/%2e%2e/charges',
    '/v1/x/%2E./charges',
    '/../v1/charges',
    '/./v1/./charges/.',
    '/v1/charges/x/..',
    '/\\v1\\charges',
    '/v1/charges?',
    '/v1/charges?page=2',
    '/v1/charges?a=/../..',
    '/v1/charges/?x#y',
    '/v1/charges#x',
    'http://localhost/v1/charges',
    'http://localhost//v1//charges/?page=2',
    'http://other.example:8080/v1/x/../charges',
    'http://user:password@localhost/v1/charges',
    'HTTP://LOCALHOST/v1/charges',
    'https://[::1]:80/v1/charges#x',
    'x:///v1/charges',
    // Routers that ignore capitals, that cut at a semicolon, that decode a whole path, and Fastify 4.
    '/V1/charges',
    '/v1/CHARGES/',
    '/v1/charges;x',
    '/v1%2fcharges',
    '/v1/charges%2f',
    'http://localhost?/v1/charges',
    '//localhost/v1/charges',
  ])('is not slipped past by %s', async (target) => {
    const app = await limitedServer({ policy: policyOf() })
    expect(statusIn(await raw(app, 'GET /v1/charges'))).toBe(200)
    expect(statusIn(await raw(app, `GET ${target}`))).toBe(429)
    expect(app.handled).toEqual(['/v1/charges'])
  })

  it.each([
    '/v1/charges/1',
    '/v1',
    '/',
    '*',
    'http://localhost',
    'http://v1/charges',
    '/v1/charges%00',
    '/x/?/v1/charges',
    '/http://localhost/v1/charges',
    '/v1/charges%3bx',
    '/v1%252fcharges',
  ])('is not about %s', async (target) => {
    const app = await limitedServer({ policy: policyOf() })
    expect(statusIn(await raw(app, 'GET /v1/charges'))).toBe(200)
    expect(statusIn(await raw(app, `GET ${target}`))).toBe(200)
  })

  it('is asked about the rewritten target and about the original one', async () => {
    const app = express()
    const policy = createPolicy({
      levels: ['/old', '/new'].map((path) => ({
        name: path.slice(1),
        when: { path },
        limit: fixedWindow({ quota: 5, window: '100d' }),
      })),
    })
    app.use((request, _response, next) => {
      if (request.url === '/old') request.url = '/new'
      next()
    })
    app.use(rateLimit({ policy }))
    app.get('/new', (_request, response) => void response.send('ok'))
    const { port, origin, close } = await serve(app)
    onTestFinished(close)
    expect(await raw({ port, origin, close }, 'GET /old')).toMatch(/^ratelimit-policy: "old".*"new"/im)
    expect(await raw({ port, origin, close }, 'GET /new')).toMatch(/^ratelimit-policy: "new";[^,]*$/im)
  })

  it('is asked about the point where a router is mounted as the client wrote it', async () => {
    const app = express()
    const policy = createPolicy({
      levels: [
        { name: 'below', when: { path: '/api/:id' }, limit },
        { name: 'others', when: { path: { not: '/api' } }, limit },
      ],
    })
    app.use('/api', rateLimit({ policy }), (_request, response) => void response.send('ok'))
    const server = await serve(app)
    onTestFinished(server.close)
    expect(await raw(server, 'GET /api')).not.toMatch(/^ratelimit/im)
    expect(await raw(server, 'GET /api?page=2')).not.toMatch(/^ratelimit/im)
    expect(await raw(server, 'GET /api/')).toMatch(/^ratelimit-policy: "below".*"others"/im)
    expect(await raw(server, 'GET /api/1')).toMatch(/^ratelimit-policy: "below".*"others"/im)
  })

  it('is asked about the path that Hono routes by, if it differs', async () => {
    const app = new Hono({ getPath: (request) => new URL(request.url).pathname.replace(/^\/app/, '') })
    app.use(honoLimit({ policy: policyOf(), address: () => '192.0.2.1' }))
    app.all('/v1/charges', (context) => context.text('ok'))
    const statuses = [await app.request('/app/v1/charges'), await app.request('/app/v1/charges?x')]
    expect(statuses.map(({ status }) => status)).toEqual([200, 429])
  })

  it('is asked if the attributes have no path', async () => {
    const app = await limitedServer({ policy: policyOf(), attributes: () => ({ path: undefined, method: undefined }) })
    expect(statusIn(await raw(app, 'GET /v1/charges'))).toBe(200)
    expect(statusIn(await raw(app, 'GET /v1/charges'))).toBe(429)
  })

  it('is about all methods, unless one is said, in capitals or not', async () => {
    const policy = createPolicy({ levels: [{ name: 'reads', when: { method: ['get', 'HEAD'], path: '/**' }, limit }] })
    const app = await limitedServer({ policy })
    expect(statusIn(await raw(app, 'GET /'))).toBe(200)
    expect(statusIn(await raw(app, 'HEAD /'))).toBe(429)
    expect(statusIn(await raw(app, 'POST /'))).toBe(200)
    // Node.js knows methods in capitals only.
    expect(statusIn(await raw(app, 'get /'))).toBe(400)
  })

  it('with path /** is asked about every target', async () => {
    const policy = createPolicy({ levels: [{ name: 'all', when: { path: '/**' }, limit }] })
    const app = await limitedServer({ policy })
    expect(statusIn(await raw(app, 'GET /'))).toBe(200)
    for (const line of [
      'OPTIONS *',
      'GET /a/b',
      'GET http://localhost',
      'GET http://localhost?x',
      'GET //',
      'GET /..',
    ]) {
      expect(statusIn(await raw(app, line)), line).toBe(429)
    }
  })

  it('takes no longer for a long path', async () => {
    const app = await limitedServer({ policy: policyOf() })
    for (const part of ['/', '/.', '/..', '/%2e', '%', '%c3', '/a', '\\', '#']) {
      const started = performance.now()
      expect(statusIn(await raw(app, `GET /${part.repeat(14_000 / part.length)}`))).toBe(200)
      expect(performance.now() - started).toBeLessThan(1_000)
    }
  })
})
