import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createLimiter, type OnFailure, StoreUnavailableError, tokenBucket } from 'sluice'
import { serviceStore } from 'sluice/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const limit = tokenBucket({ capacity: 4, refill: '1/h' })
const DECISION = '"quota":4,"remaining":3,"retryAfterMs":0,"nextUnitAfterMs":0,"resetAfterMs":0,"delayMs":0'

function http(body: string, status = '200 OK', fields = ''): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${fields}\r\n${body}`
}

/** A text that a server sends back for every request. Each name continues the sentence “a server that answers with …”. */
const GARBAGE: Readonly<Record<string, string>> = {
  'no HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
  'a header that never ends its lines': `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`,
  'half an answer': http('{"answers":[{"allowed":true}]}').slice(0, -10),
  'no body': http(''),
  'no JSON': http('<html>It works!</html>'),
  'another JSON': http('null'),
  'no answers': http('{}'),
  'too few answers': http('{"answers":[]}'),
  'too many answers': http('{"answers":[{},{}]}'),
  'an answer of nothing': http('{"answers":[null]}'),
  'no decisions': http('{"answers":[{"allowed":true,"decisions":[],"takenUs":[]}]}'),
  'a decision without numbers': http('{"answers":[{"allowed":true,"decisions":[{"allowed":true}],"takenUs":[0]}]}'),
  'a decision that contradicts the answer': http(
    `{"answers":[{"allowed":true,"decisions":[{"allowed":false,${DECISION}}],"takenUs":[0]}]}`,
  ),
  'a time that is no number': http(
    `{"answers":[{"allowed":true,"decisions":[{"allowed":true,${DECISION}}],"takenUs":["x"]}]}`,
  ),
  'a rule that does not exist': http(
    `{"answers":[{"allowed":true,"decisions":[{"allowed":true,${DECISION},"degraded":"maybe"}],"takenUs":[0]}]}`,
  ),
  'a problem of the call': http('{"answers":[{"problem":{"status":503,"detail":"the store is full"}}]}'),
  'a problem of the request': http('{"detail":"the service failed"}', '500 Internal Server Error'),
  'a redirection': http('', '302 Found', 'Location: http://192.0.2.1/\r\n'),
  'an answer of another server': http('<html>Not found</html>', '404 Not Found'),
}

describe('a server that is no service', () => {
  let server: Server
  let url: string
  let sockets: Set<Socket>
  let answer: (socket: Socket) => void

  beforeEach(async () => {
    sockets = new Set()
    server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
      socket.on('data', () => answer(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })

  const limiterOf = (onFailure: OnFailure, deadlineMs: number) =>
    createLimiter({ name: 'a', limit, store: serviceStore(url, { deadlineMs }), onFailure })

  for (const [what, text] of Object.entries(GARBAGE)) {
    it(`answers with ${what}: every rule holds`, async () => {
      answer = (socket) => socket.end(text)
      for (const onFailure of ['open', 'closed', 'local'] as const) {
        const limiter = limiterOf(onFailure, 1_000)
        const decision = await limiter.tryAcquire('key')
        expect(decision).toMatchObject({ allowed: onFailure !== 'closed', degraded: onFailure })
        const reservation = await limiter.reserve('key', { cost: 2 })
        expect(reservation.decision.degraded).toBe(onFailure)
        await reservation.cancel()
      }
    })
  }

  it('resets connections: reset and block are errors that say so', async () => {
    answer = (socket) => socket.resetAndDestroy()
    const limiter = limiterOf('open', 1_000)
    await expect(limiter.reset('key')).rejects.toThrow(StoreUnavailableError)
    await expect(limiter.block('key', { duration: '1m' })).rejects.toThrow('the key may not have been blocked')
    // This process remembers the block.
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'open' })
  })

  it('sends an answer byte by byte and never ends it: the deadline holds, and the connection is closed', async () => {
    answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n')
      const timer = setInterval(() => socket.write('['), 5)
      socket.on('close', () => clearInterval(timer))
    }
    const store = serviceStore(url, { deadlineMs: 50 })
    const limiter = createLimiter({ name: 'a', limit, store })
    expect((await limiter.tryAcquire('key')).degraded).toBe('open')
    expect(store.stats()).toMatchObject({ requestsInFlight: 0, degraded: { deadline: 1 } })
    await Promise.all([...sockets].map((socket) => socket.closed || once(socket, 'close')))
  })

  it('answers wrongly: nothing is sent twice', async () => {
    let requests = 0
    answer = (socket) => {
      requests++
      socket.resetAndDestroy()
    }
    const limiter = limiterOf('open', 1_000)
    for (let i = 0; i < 2; i++) await limiter.tryAcquire('key')
    expect(requests).toBe(2)
  })
})
