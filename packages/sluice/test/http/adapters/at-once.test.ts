import 'reflect-metadata'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { fixedWindow } from 'sluice'
import { rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as fastifyLimit } from 'sluice/fastify'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as honoLimit } from 'sluice/hono'
import { rateLimit as koaLimit } from 'sluice/koa'
import { rateLimit as nestLimit } from 'sluice/nest'
import { rateLimit as nodeLimit } from 'sluice/node'
import { describe, expect, it } from 'vitest'

const limit = fixedWindow({ quota: 1, window: '100d' })

function exchange(): [IncomingMessage, ServerResponse] {
  const request = new IncomingMessage(new Socket())
  return [request, new ServerResponse(request)]
}

describe('on a memory store everything happens at once', () => {
  it.each([
    ['node', nodeLimit({ limit, key: () => 'all' })],
    ['express', expressLimit<IncomingMessage, ServerResponse>({ limit, key: () => 'all' })],
  ])('%s calls next before it returns, or ends the response', (_name, limited) => {
    let calls = 0
    limited(...exchange(), () => calls++)
    expect(calls).toBe(1)
    const [request, response] = exchange()
    limited(request, response, () => calls++)
    expect([calls, response.statusCode, response.writableEnded]).toEqual([1, 429, true])
  })

  it('functions that answer at once change nothing of that', () => {
    let calls = 0
    const given = { key: () => 'all', cost: () => 1, skip: () => false, limit: () => limit }
    const limited = nodeLimit(given)
    limited(...exchange(), () => calls++)
    expect(calls).toBe(1)
    const [request, response] = exchange()
    limited(request, response, () => calls++)
    expect([calls, response.statusCode, response.writableEnded]).toEqual([1, 429, true])
  })

  it('a fetch handler returns a response, not a promise', () => {
    const handler = fetchLimit({ limit, key: () => 'all' })(() => new Response('ok'))
    const response = handler(new Request('http://localhost/'))
    expect(response).toBeInstanceOf(Response)
    expect(handler(new Request('http://localhost/'))).toMatchObject({ status: 429 })
  })

  it('koa and hono call next before they return', () => {
    let calls = 0
    const next = async () => {
      calls++
    }
    const [req, res] = exchange()
    koaLimit({ limit, key: () => 'all' })({ req, res } as never, next)
    expect(calls).toBe(1)
    const context = { req: { raw: new Request('http://localhost/') }, res: new Response(), header() {} }
    honoLimit({ limit, key: () => 'all' })(context as never, next)
    expect(calls).toBe(2)
  })

  it('a Nest guard returns true, not a promise', () => {
    const [request, response] = exchange()
    const http = { getRequest: () => request, getResponse: () => response }
    const context = {
      getType: () => 'http',
      getHandler: () => exchange,
      getClass: () => Object,
      switchToHttp: () => http,
    }
    expect(nestLimit({ limit, key: () => 'all' }).canActivate(context as never)).toBe(true)
  })

  it('fastify calls next before it returns', () => {
    const hooks = new Map<string, (request: object, reply: object, next: () => void) => void>()
    const app = { addHook: (name: string, hook: never) => hooks.set(name, hook) }
    fastifyLimit({ limit, key: () => 'all' })(app as never, {}, () => {})
    let calls = 0
    const reply = { getHeader: () => undefined, header() {}, raw: { hasHeader: () => false } }
    hooks.get('onRequest')?.({}, reply, () => calls++)
    expect(calls).toBe(1)
  })

  it('an error of the handler is thrown as if there were no limit, and the handler is not called twice', () => {
    let calls = 0
    const limited = nodeLimit({ limit, key: () => 'all' })
    const next = () => {
      calls++
      throw new Error('boom')
    }
    expect(() => limited(...exchange(), next)).toThrow('boom')
    expect(calls).toBe(1)
  })
})
