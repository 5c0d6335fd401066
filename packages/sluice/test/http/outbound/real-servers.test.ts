import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { type FetchRateOptions, type ShapedFetch, shapedFetch } from 'sluice/http'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunningApp } from '../adapters/app.js'
import { serve } from '../adapters/servers.js'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

interface Seen {
  readonly atMs: number
  readonly method: string | undefined
  body: string
}

/** A server that answers each request with the next of the answers, and from then on with the last. */
interface ScriptedServer {
  readonly origin: string
  readonly seen: readonly Seen[]
  /** Connections that are open. */
  readonly connections: ReadonlySet<unknown>
}

const running: (RunningApp | ShapedFetch)[] = []
afterEach(async () => {
  for (const each of running.splice(0)) await each.close()
})

async function script(...answers: Answer[]): Promise<ScriptedServer> {
  const seen: Seen[] = []
  const connections = new Set<unknown>()
  const app = await serve((request, response) => {
    const { method, socket } = request
    const each = { atMs: performance.now(), method, body: '' }
    const answer = answers[Math.min(seen.length, answers.length - 1)]
    seen.push(each)
    if (!connections.has(socket)) {
      connections.add(socket)
      socket.once('close', () => connections.delete(socket))
    }
    request.on('data', (chunk) => {
      each.body += chunk
    })
    request.on('end', () => answer(request, response))
  })
  running.push(app)
  return { origin: app.origin, seen, connections }
}

function shaped(options: Partial<FetchRateOptions> = {}): ShapedFetch {
  const call = shapedFetch({ drain: '1000/s', capacity: 1_000, ...options })
  running.push(call)
  return call
}

const status =
  (code: number, fields: Record<string, string> = {}, body = ''): Answer =>
  (_request, response) => {
    response.writeHead(code, fields).end(body)
  }
const ok = status(200, {}, 'ok')
const hangUp: Answer = ({ socket }) => {
  socket.destroy()
}
const never: Answer = () => {}
const gaps = ({ seen }: ScriptedServer) => seen.slice(1).map(({ atMs }, i) => atMs - seen[i].atMs)

/** All calls have a turn at once, so a waiting call is one that was refused. */
const untilOneWaits = (call: ShapedFetch) => expect.poll(() => call.size, { interval: 5, timeout: 10_000 }).toBe(1)

describe('against real servers', () => {
  it('a 429 with Retry-After is obeyed, also by calls that wait behind it', async () => {
    const server = await script(status(429, { 'Retry-After': '1' }), ok)
    const call = shaped()
    const refused = call(server.origin)
    await untilOneWaits(call)
    const responses = await Promise.all([refused, call(server.origin), call(server.origin)])
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(['ok', 'ok', 'ok'])
    expect(server.seen).toHaveLength(4)
    expect(gaps(server)[0]).toBeGreaterThan(900)
  })

  it('a quota that is used up is waited for', async () => {
    const server = await script(status(200, { RateLimit: '"burst";r=0;t=1' }), ok)
    const call = shaped()
    await call(server.origin)
    await call(server.origin)
    expect(gaps(server)[0]).toBeGreaterThan(900)
  })

  it('a 503 with a date is obeyed', async () => {
    const inTwoSeconds: Answer = (request, response) =>
      status(503, { 'Retry-After': new Date(Date.now() + 2_000).toUTCString() })(request, response)
    const server = await script(inTwoSeconds, ok)
    expect((await shaped()(server.origin)).status).toBe(200)
    // Dates have whole seconds, that of the response too.
    expect(gaps(server)[0]).toBeGreaterThan(900)
  })

  it('a connection that breaks is tried again, unless it was a POST', async () => {
    const server = await script(hangUp, hangUp, ok, hangUp)
    const call = shaped()
    expect((await call(server.origin)).status).toBe(200)
    await expect(call(server.origin, { method: 'POST', body: 'pay' })).rejects.toThrow(TypeError)
    expect(server.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST'])
  })

  it('a POST is made again after a 429, and not after a 503', async () => {
    const server = await script(status(429), status(503))
    const response = await shaped()(server.origin, { method: 'POST', body: 'pay' })
    expect(response.status).toBe(503)
    expect(server.seen.map(({ body }) => body)).toEqual(['pay', 'pay'])
  })

  it('bodies of all kinds are sent again, and streams are not', async () => {
    const form = new FormData()
    form.append('field', 'in a form')
    const bytes = new TextEncoder().encode('in bytes')
    for (const body of ['in text', new Blob(['in a blob']), bytes, bytes.buffer, new URLSearchParams('a=1'), form]) {
      const server = await script(status(503), ok)
      expect((await shaped()(server.origin, { method: 'PUT', body })).status).toBe(200)
      const [first, second] = server.seen.map((each) => each.body.replace(/-{4,}[\w-]+/g, ''))
      expect(first.length).toBeGreaterThan(0)
      expect(second).toBe(first)
    }
    const server = await script(status(503), ok)
    const body = Readable.toWeb(Readable.from(['in', 'a', 'stream'])) as ReadableStream
    expect((await shaped()(server.origin, { method: 'PUT', body, duplex: 'half' })).status).toBe(503)
    expect((await shaped()(new Request(server.origin, { method: 'PUT', body: 'whole' }))).status).toBe(200)
    expect(server.seen.map((each) => each.body)).toEqual(['inastream', 'whole'])
  })

  it('a request without a body is made again from a Request', async () => {
    const server = await script(status(503), ok)
    expect((await shaped()(new Request(server.origin, { method: 'DELETE' }))).status).toBe(200)
    expect(server.seen.map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
  })

  it('a server that is down is not stormed', async () => {
    const server = await script(status(503))
    const budget = { ratio: 0.1, least: 10 }
    const call = shaped({ budget })
    const responses = await Promise.all(Array.from({ length: 200 }, () => call(server.origin)))
    for (const response of responses) {
      expect(response.status).toBe(503)
      await response.text()
    }
    expect(server.seen.length).toBeGreaterThan(200)
    expect(server.seen.length).toBeLessThanOrEqual(200 * (1 + budget.ratio) + budget.least)
  })

  it('connections of retried responses are free again', async () => {
    const large = 'x'.repeat(4 * 2 ** 20)
    const server = await script(...Array.from({ length: 8 }, () => status(503, {}, large)), ok)
    const response = await shaped({ retries: 8, random: () => 0 })(server.origin)
    expect(await response.text()).toBe('ok')
    expect(server.seen).toHaveLength(9)
    await expect.poll(() => server.connections.size).toBeLessThanOrEqual(2)
  })

  it('two hosts do not wait for each other', async () => {
    const [paused, free] = [await script(status(429, { 'Retry-After': '30' }), ok), await script(ok)]
    const call = shaped()
    const controller = new AbortController()
    const waiting = call(paused.origin, { signal: controller.signal })
    const outcome = expect(waiting).rejects.toThrow('enough')
    await untilOneWaits(call)
    for (let i = 0; i < 5; i++) expect(await (await call(free.origin)).text()).toBe('ok')
    expect(paused.seen).toHaveLength(1)
    controller.abort(new Error('enough'))
    await outcome
  })

  it('a signal with a timeout ends a call that the server does not answer', async () => {
    const server = await script(never)
    await expect(shaped()(server.origin, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    expect(server.seen.length).toBeLessThanOrEqual(1)
  })

  it('a signal with a timeout ends a call that waits', async () => {
    const server = await script(status(503, { 'Retry-After': '30' }))
    await expect(shaped()(server.origin, { signal: AbortSignal.timeout(300) })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    expect(server.seen.length).toBeLessThanOrEqual(1)
  })

  it('a signal ends the reading of a body', async () => {
    const server = await script((_request, response) => void response.writeHead(200).write('never whole'))
    const controller = new AbortController()
    const response = await shaped()(server.origin, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(response.text()).rejects.toThrow()
  })

  it('a server that is not there is a network error, after the retries', async () => {
    const server = await serve(ok)
    await server.close()
    await expect(shaped({ retries: 2 })(server.origin)).rejects.toMatchObject({
      name: 'TypeError',
      cause: { code: 'ECONNREFUSED' },
    })
  })

  it('redirections are followed, as fetch does', async () => {
    const server = await script(status(302, { Location: '/there' }), ok)
    const response = await shaped()(server.origin)
    expect([response.redirected, await response.text()]).toEqual([true, 'ok'])
  })
})
