import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { parseRateLimit } from 'sluice/http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Asked, ask, type GateService, startGate } from '../doors/gate-service.js'
import { type ProxyProcess, startProxy } from './proxy-process.js'
import { placed, RECIPES, type Recipe, readExample } from './recipes.js'

const LEVELS = `
  - name: merchant
    key: [merchant]
    limit: { algorithm: token-bucket, capacity: 3, refill: 3/m }
  - name: ip
    when: { merchant: null, path: { not: /free } }
    key: [ip]
    limit: { algorithm: token-bucket, capacity: 2, refill: 2/m }
  - name: charges
    when: { method: POST, path: /v1/charges }
    key: [merchant]
    limit: { algorithm: token-bucket, capacity: 1, refill: 1/m }
`
const FROM_RECIPES = { 'trusted-proxies': '127.0.0.1', 'gate-attributes': 'merchant=x-merchant' }

interface SeenByApp {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An application behind the proxies. A path such as `/status/403` is answered with that status, and `/cut` not at all. */
const seen: SeenByApp[] = []
const app = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => {
    body += chunk
  })
  request.on('end', () => {
    const { method, url, headers } = request
    seen.push({ method, url, headers, body })
    if (url === '/cut') return void request.socket.destroy()
    response.statusCode = Number(/^\/status\/(\d+)$/.exec(url ?? '')?.[1] ?? 200)
    response.end('from the application')
  })
})

let servicePort: number
const services: GateService[] = []

beforeAll(async () => {
  app.listen(0, '127.0.0.1')
  await once(app, 'listening')
  servicePort = await quietPort()
})

afterAll(() => {
  app.close()
  app.closeAllConnections()
})

beforeEach(() => {
  seen.length = 0
})

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()))
})

async function serve(options: Record<string, string> = FROM_RECIPES): Promise<GateService> {
  const service = await startGate(LEVELS, { http: `127.0.0.1:${servicePort}`, 'shutdown-ms': '0', ...options })
  services.push(service)
  return service
}

describe.each(RECIPES)('behind $name', (recipe) => {
  let open: ProxyProcess
  let closed: ProxyProcess
  /** A request through the proxy. Each test comes from an address of its own. */
  let from = ''
  let tests = 1

  beforeAll(async () => {
    const [first, second] = await Promise.all([run(recipe, (text) => text), run(recipe, recipe.closed)])
    open = first
    closed = second
  })
  afterAll(() => Promise.all([open?.stop(), closed?.stop()]))
  beforeEach(() => {
    tests++
    from = `127.0.1.${tests}`
  })

  const send = (path: string, asked: Asked = {}) => ask(open.port, path, { from, ...asked })
  const charge = { method: 'POST', body: 'amount=1', headers: { authorization: 'Bearer sk_1' } }

  test('a request within its limit reaches the application as the client sent it, and the client is told its quota', async () => {
    await serve()
    const answer = await send('/v1/charges?a=%20b&deny=403', charge)
    expect([answer.status, answer.body]).toEqual([200, 'from the application'])
    expect(seen).toMatchObject([{ method: 'POST', url: '/v1/charges?a=%20b&deny=403', body: 'amount=1' }])
    expect(quotasOf(answer.headers)).toEqual([
      ['merchant', 3, 2],
      ['charges', 1, 0],
    ])
  })

  test('a request over its limit is answered with 429, and the client is told when to come back', async () => {
    await serve()
    await send('/a')
    await send('/b')
    const denied = await send('/c')
    expect(denied.status).toBe(429)
    expect(denied.headers).toMatchObject({
      'retry-after': '30',
      'cache-control': 'no-store',
      'content-type': 'application/problem+json',
    })
    expect(quotasOf(denied.headers)).toEqual([['ip', 2, 0]])
    expect(JSON.parse(denied.body)).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      status: 429,
    })
    expect(seen.map(({ url }) => url)).toEqual(['/a', '/b'])
    expect((await send('/d', { from: '127.0.2.1' })).status).toBe(200)
  })

  test('levels see the method, the path and the account of the client', async () => {
    await serve()
    expect((await send('/v1/charges', charge)).status).toBe(200)
    expect((await send('//v1/./charges/', charge)).status).toBe(429)
    expect((await send('/v1/charges', { ...charge, method: 'GET', body: '' })).status).toBe(200)
    expect((await send('/v1/charges', { ...charge, headers: { authorization: 'Bearer sk_2' } })).status).toBe(200)
    expect((await send('/v1/charges', { ...charge, headers: { authorization: 'Bearer other' } })).status).toBe(200)
  })

  test('a request that no level matches passes without a quota', async () => {
    await serve()
    const answer = await send('/free')
    expect(answer.status).toBe(200)
    expect(answer.headers.ratelimit).toBeUndefined()
  })

  test('fields and parameters that a client invents do not help it', async () => {
    await serve()
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) {
      const answer = await send('/a?cost=0&deny=403', {
        headers: {
          'x-forwarded-for': `192.0.2.${i}`,
          'x-real-ip': `192.0.2.${i}`,
          forwarded: `for=192.0.2.${i}`,
          'x-forwarded-uri': '/free',
          'x-forwarded-method': 'HEAD',
          'x-original-uri': '/free',
          'x-original-method': 'HEAD',
          'x-merchant': `acct_${i}`,
        },
      })
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([200, 200, 429, 429])
  })

  test.each([403, 429, 500, 502, 503])('the answer %s of the application reaches the client', async (status) => {
    await serve()
    const answer = await send(`/status/${status}`)
    expect([answer.status, answer.body]).toEqual([status, 'from the application'])
    expect(seen).toHaveLength(1)
  })

  test('an admitted request that the application does not answer is an error, and is sent once', async () => {
    await serve()
    const answer = await send('/cut', { method: 'DELETE' })
    expect(answer.status).toBe(502)
    expect(seen).toHaveLength(1)
  })

  test('a dead service lets requests pass, until it is there again', async () => {
    for (let i = 0; i < 3; i++) {
      const answer = await send('/v1/charges', charge)
      expect([answer.status, answer.body]).toEqual([200, 'from the application'])
    }
    expect(seen[2]).toMatchObject({ method: 'POST', url: '/v1/charges', body: 'amount=1' })
    await serve()
    expect([(await send('/v1/charges', charge)).status, (await send('/v1/charges', charge)).status]).toEqual([200, 429])
  })

  test('a dead service lets no request pass if that is configured, until it is there again', async () => {
    const refused = await ask(closed.port, '/a', { from })
    expect([502, 503]).toContain(refused.status)
    expect(seen).toEqual([])
    await serve()
    expect((await ask(closed.port, '/a', { from })).status).toBe(200)
  })

  test('a silent service is like a dead one after a moment', async () => {
    const silent = await listenSilently(servicePort)
    try {
      const startedMs = performance.now()
      const [passed, refused] = await Promise.all([send('/a'), ask(closed.port, '/b', { from })])
      expect(performance.now() - startedMs).toBeLessThan(10_000)
      expect(passed.status).toBe(200)
      expect([502, 503, 504]).toContain(refused.status)
      expect(seen.map(({ url }) => url)).toEqual(['/a'])
    } finally {
      await silent.close()
    }
  })

  test('a service that does not trust the proxy lets no request pass', async () => {
    await serve({})
    const answer = await send('/a')
    expect([400, 503]).toContain(answer.status)
    expect(seen).toEqual([])
  })
})

function run(recipe: Recipe, change: (text: string) => string): Promise<ProxyProcess> {
  return startProxy((folder, ports) => {
    const place = { folder, ports, servicePort, appPort: (app.address() as AddressInfo).port }
    return recipe.start((file) => change(placed(readExample(file), place)), place)
  })
}

function quotasOf(headers: IncomingHttpHeaders) {
  const { quotas } = parseRateLimit(headers as Record<string, string>)
  return quotas.map(({ name, quota, remaining }) => [name, quota, remaining])
}

/**
 * A free port that the system gives to no other program by itself. Tests close the service and expect that its port stays
 * closed.
 */
async function quietPort(): Promise<number> {
  for (;;) {
    const server = createTcpServer()
    server.listen(10_000 + Math.floor(Math.random() * 20_000), '127.0.0.1')
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('listening', () => resolve(true))
      server.once('error', () => resolve(false))
    })
    if (!isFree) continue
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    return port
  }
}

/** A server that accepts connections and never answers. */
async function listenSilently(port: number) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
