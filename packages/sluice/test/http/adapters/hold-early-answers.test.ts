/** Requests that Fastify answers before any hook: it cannot decode their target, or a parameter is too long. */
import { once } from 'node:events'
import { connect as http2Connect } from 'node:http2'
import { connect } from 'node:net'
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify as fastify5,
} from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { createPolicy, fixedWindow } from 'sluice'
import { type FastifyOptions, rateLimit } from 'sluice/fastify'
import { parseRateLimit } from 'sluice/http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { laterStore } from './later-store.js'
import { running } from './servers.js'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })

describe.each([
  ['fastify 5', fastify5],
  ['fastify 4', fastify4 as unknown as typeof fastify5],
])('%s', (version, fastify) => {
  interface Spec {
    readonly options?: FastifyServerOptions
    readonly routes?: (app: FastifyInstance) => void
  }

  async function start(rateLimitOptions: FastifyOptions, { options = {}, routes }: Spec = {}) {
    const app = fastify(options) as unknown as FastifyInstance
    app.register(rateLimit(rateLimitOptions))
    app.get('/items/:id', async (request) => (request.params as { id: string }).id)
    app.get('/files/*', async (request) => (request.params as { '*': string })['*'])
    routes?.(app)
    await app.ready()
    const server = await running(app.server)
    onTestFinished(() => server.close())
    const get = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(server.origin + path, init)
      const { quotas } = parseRateLimit(response.headers)
      return { status: response.status, left: quotas.map(({ remaining }) => remaining), body: await response.text() }
    }
    return { ...server, get }
  }

  it.each([
    ['in memory', undefined],
    ['on a store that answers later', laterStore()],
  ])('limits targets that cannot be decoded, %s', async (_where, store) => {
    const { get } = await start({ limit: limit(3), name: 'all', ...(store && { store }) })
    const plain = fastify() as unknown as FastifyInstance
    plain.get('/', async () => 'hello')
    expect(await get('/%zz')).toEqual({ status: 400, left: [2], body: (await plain.inject('/%zz')).body })
    expect(await get('/items/%', { method: 'POST', body: 'x' })).toMatchObject({ left: [1] })
    expect(await get('/items/1')).toEqual({ status: 200, left: [0], body: '1' })
    for (const path of ['/%zz', '/items/%c3%28', '/%zz?x=%25', '/files/%E0%A4%A', '/items/1']) {
      const { status, left, body } = await get(path)
      expect([path, status, left]).toEqual([path, 429, [0]])
      expect(JSON.parse(body)).toMatchObject({ status: 429, 'violated-policies': ['all'] })
    }
  })

  it('limits them whatever the method', async () => {
    const { get } = await start({ limit: limit(1) })
    expect((await get('/%zz', { method: 'DELETE' })).left).toEqual([0])
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'PROPFIND']) {
      expect([method, (await get('/%zz', { method })).status]).toEqual([method, 429])
    }
  })

  it('limits targets that are no path', async () => {
    const { port } = await start({ limit: limit(2) })
    const socket = connect(port, '127.0.0.1')
    const targets = ['*', 'http://a/%zz', '*', 'http://a/%zz', 'http://[', 'http://a/items/1']
    const close = (i: number) => (i === targets.length - 1 ? 'Connection: close\r\n' : '')
    socket.write(targets.map((target, i) => `GET ${target} HTTP/1.1\r\nHost: a\r\n${close(i)}\r\n`).join(''))
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text.match(/(?<=HTTP\/1\.1 )\d+/g)?.slice(2)).toEqual(['429', '429', '429', '429'])
  })

  it('limits parameters that are too long', async () => {
    const { get } = await start({ limit: limit(2) })
    const long = `/items/${'x'.repeat(101)}`
    const first = await get(long)
    expect(first).toMatchObject({ status: version === 'fastify 5' ? 414 : 404, left: [1] })
    expect((await get(long)).left).toEqual([0])
    expect((await get(long)).status).toBe(429)
    expect((await get('/items/1')).status).toBe(429)
  })

  it('counts similar requests that are not answered early once, and runs hooks once', async () => {
    let hooked = 0
    const { get } = await start(
      { limit: limit(9) },
      {
        routes: (app) =>
          app.addHook('onRequest', async () => {
            hooked++
          }),
      },
    )
    const long = 'x'.repeat(300)
    expect(await get(`/files/${long}`)).toEqual({ status: 200, left: [8], body: long })
    expect(await get(`/items/1?${long}=%zz`)).toEqual({ status: 200, left: [7], body: '1' })
    expect(await get(`/items/%25zz`)).toEqual({ status: 200, left: [6], body: '%zz' })
    expect(await get(`/nothing/${long}`)).toMatchObject({ status: 404, left: [5] })
    expect(await get('/items/;%zz')).toMatchObject({ left: [4] })
    expect(hooked).toBe(5)
  })

  it('settles them, and similar requests, by the response that was sent', async () => {
    const lengths: number[] = []
    const settle = ({ length }: { length: number }) => {
      lengths.push(length)
      return 1
    }
    const { get } = await start({ limit: limit(9), settle })
    const { body } = await get('/%zz')
    await expect.poll(() => lengths).toEqual([body.length])
    await get(`/files/${'x'.repeat(300)}`)
    await expect.poll(() => lengths).toEqual([body.length, 300])
  })

  it('keeps the changes of other plugins to responses', async () => {
    const heads: unknown[] = []
    const { get } = await start(
      { limit: limit(9) },
      {
        routes: (app) =>
          app.addHook('onRequest', async (_request, { raw }) => {
            const { writeHead } = raw
            raw.writeHead = (...head: unknown[]) => {
              heads.push(head[0])
              return Reflect.apply(writeHead, raw, head)
            }
          }),
      },
    )
    expect((await get(`/files/${'x'.repeat(300)}`)).status).toBe(200)
    expect(heads).toEqual([200])
  })

  it('tries once to make a request enter, and then lets the answer go', async () => {
    const { get } = await start({ limit: limit(1) }, { options: { rewriteUrl: () => '/%zz' } })
    for (let i = 0; i < 3; i++) expect((await get('/%zz')).status).toBe(400)
  })

  it('a plugin without a limit for all adds no route', async () => {
    const app = fastify() as unknown as FastifyInstance
    app.register(rateLimit())
    await app.ready()
    expect(app.printRoutes()).not.toContain('sluice')
  })

  it('of HTTP/2 too', async () => {
    const { origin } = await start({ limit: limit(1) }, { options: { http2: true } as FastifyServerOptions })
    const session = http2Connect(origin)
    const statuses: unknown[] = []
    for (const path of ['/%zz', '/%zz', '/items/1']) {
      const stream = session.request({ ':path': path })
      const [headers] = await once(stream, 'response')
      statuses.push(headers[':status'])
      stream.resume()
      await once(stream, 'close')
    }
    session.close()
    expect(statuses).toEqual([400, 429, 429])
  })

  it('leaves the answer to frameworkErrors', async () => {
    const frameworkErrors: FastifyServerOptions['frameworkErrors'] = (error, _request, reply) =>
      void (reply as FastifyReply).code(418).send(error.code)
    const { get } = await start({ limit: limit(1) }, { options: { frameworkErrors } })
    expect(await get('/%zz')).toEqual({ status: 418, left: [0], body: 'FST_ERR_BAD_URL' })
    expect((await get('/%zz')).status).toBe(429)
  })

  it('options are functions of a request as the client sent it', async () => {
    const policy = createPolicy({
      levels: [
        { name: 'admin', when: { path: '/admin/**' }, key: ['user'], limit: limit(1) },
        { name: 'user', key: ['user'], limit: limit(9) },
      ],
    })
    const seen: unknown[] = []
    const attributes = (request: FastifyRequest) => {
      seen.push([request.originalUrl, request.method, request.ip])
      return { user: request.headers['x-user'] as string }
    }
    const { get } = await start({ policy, attributes })
    const headers = { 'x-user': 'a' }
    expect(await get('/admin/%zz', { headers })).toMatchObject({ status: 400, left: [0, 8] })
    expect((await get('/admin/%zz', { headers })).status).toBe(429)
    expect((await get('/%zz', { headers })).status).toBe(400)
    expect(seen[0]).toEqual(['/admin/%zz', 'GET', '127.0.0.1'])
  })

  it('skips those that it is told to', async () => {
    const { get } = await start({ limit: limit(1), skip: ({ headers }: FastifyRequest) => headers['x-skip'] === 'yes' })
    const headers = { 'x-skip': 'yes' }
    for (let i = 0; i < 3; i++) expect((await get('/%zz', { headers })).status).toBe(400)
  })

  it('counts on the limit of the context whose prefix they have, and several limits count each once', async () => {
    const app = fastify() as unknown as FastifyInstance
    app.register(rateLimit({ limit: limit(9), name: 'all' }))
    app.register(rateLimit({ limit: limit(8), name: 'more' }))
    app.register(
      async (inner) => {
        inner.register(rateLimit({ limit: limit(7), name: 'inner' }))
        inner.get('/x', async () => 'x')
      },
      { prefix: '/inner' },
    )
    await app.ready()
    const { origin, close } = await running(app.server)
    onTestFinished(close)
    const left = async (path: string) => {
      const { quotas } = parseRateLimit((await fetch(origin + path)).headers)
      return Object.fromEntries(quotas.map(({ name, remaining }) => [name, remaining]))
    }
    expect(await left('/%zz')).toEqual({ all: 8, more: 7 })
    expect(await left('/inner/%zz')).toEqual({ all: 7, more: 6, inner: 6 })
    expect(await left('/inner/x')).toEqual({ all: 6, more: 5, inner: 5 })
  })

  it('answers 404 to a client that asks for its own route', async () => {
    const { get } = await start({ limit: limit(9) })
    for (const path of ['/.sluice/1', '/.sluice/2', '/.sluice/3']) expect((await get(path)).status).toBe(404)
  })
})
