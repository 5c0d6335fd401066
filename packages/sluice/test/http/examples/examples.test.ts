import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { getIntrospectionQuery } from 'graphql'
import { parseRateLimit } from 'sluice/http'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type RunningExample, root, startExample } from './running-example.js'

const files = readdirSync(`${root}examples`).filter((name) => /\.(mjs|ts)$/.test(name))

describe('examples', () => {
  const started: RunningExample[] = []
  const start = async (file: string) => {
    const running = await startExample(file)
    started.push(running)
    return running.origin
  }
  afterEach(async () => {
    const signals = await Promise.all(started.splice(0).map((each) => each.stop()))
    expect(signals.every((signal) => signal === 'SIGTERM')).toBe(true)
  })

  it('node.mjs: five requests of an address pass, and the sixth is told when to come back', async () => {
    const origin = await start('node.mjs')
    const passed = await several(5, () => fetch(origin))
    expect(passed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await passed[0].text()).toBe('hello\n')
    expect(passed.map(remaining)).toEqual([4, 3, 2, 1, 0])
    expectDenied(await fetch(origin), { by: 'default', withinSeconds: 12 })
  })

  it('express.mjs: a route has a limit besides that of the application, and another one is free', async () => {
    const origin = await start('express.mjs')
    const login = () => fetch(`${origin}/login`, { method: 'POST' })
    const attempts = await several(3, login)
    expect(attempts.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(remaining(attempts[2], 'login')).toBe(0)
    expect(remaining(attempts[2], 'all')).toBe(7)
    await expectProblem(expectDenied(await login(), { by: 'login', withinSeconds: 3_600 }), ['login'])
    const others = await several(8, () => fetch(origin))
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200, 429])
    expectDenied(others[7], { by: 'all', withinSeconds: 12 })
    const health = await fetch(`${origin}/health`)
    expect([health.status, health.headers.get('ratelimit')]).toEqual([200, null])
  })

  it("fastify.mjs: a request that the route's limit denies takes nothing from the limit for all", async () => {
    const origin = await start('fastify.mjs')
    const found = await several(3, () => fetch(`${origin}/search`))
    expect(found.map(({ status }) => status)).toEqual([200, 200, 200])
    expect([remaining(found[2], 'all'), remaining(found[2], 'search')]).toEqual([7, 0])
    const denied = await several(5, () => fetch(`${origin}/search`))
    for (const each of denied) await expectProblem(expectDenied(each, { by: 'search', withinSeconds: 20 }), ['search'])
    const others = await several(8, () => fetch(origin))
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 200, 429])
    expectDenied(others[7], { by: 'all', withinSeconds: 12 })
    await expectInsteadAndSkip(origin)
  })

  it('hono.mjs: routes below the path are limited, in two dialects, and others are not', async () => {
    const origin = await start('hono.mjs')
    const passed = await several(5, () => fetch(`${origin}/api/time`))
    expect(passed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(passed.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['4', '3', '2', '1', '0'])
    expect(passed.map(remaining)).toEqual([4, 3, 2, 1, 0])
    expectDenied(await fetch(`${origin}/api/time`), { by: 'default', withinSeconds: 3_600 })
    const free = await fetch(origin)
    expect(free.status).toBe(200)
    expect(free.headers.has('ratelimit')).toBe(false)
  })

  it('koa.mjs: a denial is said in its own words, and health is never denied', async () => {
    const origin = await start('koa.mjs')
    const passed = await several(5, () => fetch(origin))
    expect(passed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const denied = expectDenied(await fetch(origin), { by: 'default', withinSeconds: 12 })
    const seconds = Number(denied.headers.get('retry-after'))
    expect(await denied.json()).toEqual({ error: 'slow_down', seconds })
    const health = await fetch(`${origin}/health`)
    expect([health.status, health.headers.has('ratelimit')]).toEqual([200, false])
  })

  it('fetch.mjs: a handler of Request and Response is limited by the address of the connection', async () => {
    const origin = await start('fetch.mjs')
    const passed = await several(5, () => fetch(`${origin}/there`))
    expect(await passed[0].text()).toBe('hello from /there\n')
    expect(passed.map(remaining)).toEqual([4, 3, 2, 1, 0])
    expectDenied(await fetch(`${origin}/there`), { by: 'default', withinSeconds: 12 })
  })

  it('nest.ts: a limit for all, one more for a route, none for another', async () => {
    const origin = await start('nest.ts')
    const found = await several(3, () => fetch(`${origin}/search`))
    expect(found.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await found[0].text()).toBe('found\n')
    await expectProblem(expectDenied(await fetch(`${origin}/search`), { by: 'search', withinSeconds: 20 }), ['search'])
    const others = await several(8, () => fetch(origin))
    expect(others[0].status).toBe(200)
    expectDenied(others[7], { by: 'all', withinSeconds: 12 })
    expect((await fetch(`${origin}/health`)).status).toBe(200)
    await expectInsteadAndSkip(origin)
  })

  it('nest.ts compiles', async () => {
    await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'examples'], { cwd: root })
  })

  it('policy.mjs: levels by account, by path and by address, and more for one account', async () => {
    const origin = await start('policy.mjs')
    const call = (path: string, key?: string, method = 'GET') =>
      fetch(origin + path, { method, headers: key === undefined ? {} : { authorization: `Bearer ${key}` } })

    const charges = await several(3, () => call('/v1/charges', 'sk_small', 'POST'))
    expect(charges.map(({ status }) => status)).toEqual([201, 201, 429])
    await expectProblem(expectDenied(charges[2], { by: 'charges', withinSeconds: 30 }), ['charges'])

    // The denied charge has taken nothing from the account.
    const customers = await several(4, () => call('/v1/customers', 'sk_small'))
    expect(customers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    await expectProblem(expectDenied(customers[3], { by: 'account', withinSeconds: 12 }), ['account'])

    const big = await several(20, () => call('/v1/customers', 'sk_big'))
    expect(big.every(({ status }) => status === 200)).toBe(true)

    // Unknown keys are not clients of their own.
    const unknown = [await call('/v1/customers', 'sk_1'), await call('/v1/customers', 'sk_2')]
    const anonymous = await several(2, () => call('/v1/customers'))
    expect([...unknown, ...anonymous].map(({ status }) => status)).toEqual([200, 200, 200, 429])
    await expectProblem(expectDenied(anonymous[1], { by: 'ip', withinSeconds: 20 }), ['ip'])
  })

  it('database.mjs: limits by plan and by user, and a new plan counts what is used already', async () => {
    const origin = await start('database.mjs')
    const call = (key: string, path = '/', method = 'GET') =>
      fetch(origin + path, { method, headers: { 'x-api-key': key } })
    const ann = await several(4, () => call('sk_ann'))
    expect(ann.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(await ann[0].text()).toBe('hello ann\n')
    await expectProblem(expectDenied(ann[3], { by: 'user', withinSeconds: 3_600 }), ['user'])

    const bob = await several(6, () => call('sk_bob'))
    expect(bob.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])

    // Unknown keys are one client, by their address.
    expect([(await call('sk_1')).status, (await call('sk_2')).status]).toEqual([200, 429])

    await call('sk_ann', '/upgrade', 'POST')
    expect(remaining(await call('sk_ann'), 'user')).toBe(6)
  })

  it('settle.mjs: an estimate is taken, and the difference given back or charged', async () => {
    const origin = await start('settle.mjs')
    const report = (rows: number) => fetch(`${origin}/report?rows=${rows}`)
    const estimate = 100
    expect(remaining(await read(report(3)))).toBe(1_000 - estimate)
    expect(remaining(await read(report(250)))).toBe(1_000 - 3 - estimate)
    expect(remaining(await read(report(2_000)))).toBe(1_000 - 3 - 250 - estimate)
    const indebted = await report(1)
    // 1,253 below nothing, and the next estimate has to be there: at 1,000 a day.
    expectDenied(indebted, { by: 'rows', withinSeconds: Math.ceil(1_353 * 86.4) })
    expect(Number(indebted.headers.get('retry-after'))).toBeGreaterThan(86_400)

    const download = () => read(fetch(`${origin}/download`))
    expect(remaining(await download())).toBe(99)
    expect(remaining(await download())).toBe(69)
    expect(remaining(await download())).toBe(39)
    expect(remaining(await download())).toBe(9)
    expectDenied(await download(), { by: 'kilobytes', withinSeconds: 21 * 864 })
  })

  it('websocket.mjs: a user is told to slow down, over all connections, and then disconnected', async () => {
    const origin = (await start('websocket.mjs')).replace('http:', 'ws:')
    const [first, second, other] = [
      await connect(origin, 'u1'),
      await connect(origin, 'u1'),
      await connect(origin, 'u2'),
    ]

    for (const left of [4, 3, 2]) expect(await first.say('hi')).toEqual({ type: 'echo', text: 'hi', remaining: left })
    for (const left of [1, 0]) expect(await second.say('ho')).toEqual({ type: 'echo', text: 'ho', remaining: left })
    for (let warning = 0; warning < 3; warning++) {
      const { type, retryAfterMs } = await first.say('more')
      expect(type).toBe('slow-down')
      expect(retryAfterMs).toBeGreaterThan(0)
      expect(retryAfterMs).toBeLessThanOrEqual(12_000)
    }
    expect(await first.sayLast('and more')).toEqual({ code: 1008, reason: 'too many messages' })
    expect(await other.say('hello')).toMatchObject({ type: 'echo', remaining: 4 })
    for (const { socket } of [second, other]) socket.terminate()
  })

  it('graphql.mjs: a query is charged by its document, denied before it runs, or told that it never will', async () => {
    const origin = await start('graphql.mjs')
    const ask = (query: string, variables?: object) =>
      fetch(origin, { method: 'POST', body: JSON.stringify({ query, variables }) })

    const small = await ask('{ users(first: 2) { name } }')
    expect(await small.json()).toEqual({
      data: { users: [{ name: 'user 0' }, { name: 'user 1' }] },
      extensions: { cost: 3 },
    })
    expect(remaining(small)).toBe(997)

    const nested =
      'query ($n: Int!) { users(first: $n) { ...F } } fragment F on User { name friends(first: 5) { name } }'
    const big = await ask(nested, { n: 100 })
    expect(await big.json()).toMatchObject({ extensions: { cost: 1 + 100 * (1 + 1 + 5) } })
    expect(remaining(big)).toBe(296)

    const denied = await ask(nested, { n: 100 })
    await expectProblem(expectDenied(denied, { by: 'points', withinSeconds: Math.ceil(405 * 86.4) }), ['points'])
    expect((await ask('{ users(first: 1) { name } }')).status).toBe(200)

    const never = await ask(nested, { n: 1_000 })
    expect([never.status, never.headers.has('retry-after')]).toEqual([400, false])
    expect(await never.json()).toEqual({ errors: [{ message: 'it costs 7001, which is never allowed: ask for less' }] })

    // Neither a negative number nor doubling fragments nor numbers without end make a query cheap, or slow to reckon.
    const twice = Array.from({ length: 60 }, (_, i) => `fragment F${i} on User { ...F${i + 1} ...F${i + 1} }`).join(' ')
    const doubled = `{ users(first: 1) { ...F0 } } ${twice} fragment F60 on User { name }`
    const deep = `{ users(first: 0) { ${'friends(first: 2147483647) { '.repeat(60)}name${' }'.repeat(60)} } }`
    expect((await ask(doubled)).status).toBe(400)
    expect(await (await ask('{ users(first: -9) { name } }')).json()).toMatchObject({ extensions: { cost: 1 } })
    expect(await (await ask(deep)).json()).toMatchObject({ data: { users: [] }, extensions: { cost: 1 } })
    expect((await ask(getIntrospectionQuery())).status).toBe(200)
    expect((await ask('{ nothing }')).status).toBe(400)
    expect((await ask('{')).status).toBe(400)
  })

  it('outbound.mjs: a strict API answers all calls that wait for their turn, and refuses others', async () => {
    const origin = await start('outbound.mjs')
    expect(await (await fetch(`${origin}/?politely=no`)).json()).toContain(429)
    expect(await (await fetch(origin)).json()).toEqual([200, 200, 200, 200, 200, 200])
  })

  it('each one is in the table of the README, and in a test here', async () => {
    const [readme, tests] = await Promise.all([
      readFile(`${root}examples/README.md`, 'utf8'),
      readFile(new URL(import.meta.url), 'utf8'),
    ])
    for (const file of files) {
      expect(readme).toContain(`[${file}](${file})`)
      expect(tests).toContain(`start('${file}')`)
    }
  })
})

/** One after another. */
async function several(count: number, call: () => Promise<Response>): Promise<Response[]> {
  const responses: Response[] = []
  for (let i = 0; i < count; i++) responses.push(await call())
  return responses
}

/** A response that was read to the end, so that it is over for the server too. */
async function read(response: Promise<Response>): Promise<Response> {
  await (await response).clone().arrayBuffer()
  return response
}

/** The remaining units in the field `RateLimit`, for the limit with that name or for the only limit. */
function remaining({ headers }: Response, name?: unknown): number | undefined {
  const { quotas } = parseRateLimit(headers)
  return (typeof name === 'string' ? quotas.find((quota) => quota.name === name) : quotas[0])?.remaining
}

function expectDenied(response: Response, { by, withinSeconds }: { by: string; withinSeconds: number }): Response {
  expect(response.status).toBe(429)
  expect(response.headers.get('ratelimit-policy')).toContain(`"${by}";q=`)
  expect(response.headers.get('ratelimit')).toContain(`"${by}";r=`)
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  const seconds = Number(response.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(withinSeconds)
  return response
}

async function expectProblem(response: Response, violated: readonly string[]): Promise<void> {
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(await response.json()).toMatchObject({ status: 429, 'violated-policies': violated })
}

async function connect(origin: string, user: string) {
  const socket = new WebSocket(`${origin}?user=${user}`)
  await once(socket, 'open')
  return {
    socket,
    async say(text: string) {
      const answer = once(socket, 'message')
      socket.send(text)
      return JSON.parse(String((await answer)[0]))
    },
    /** Gives how the connection was closed. */
    async sayLast(text: string) {
      const closed = once(socket, 'close')
      socket.send(text)
      const [code, reason] = await closed
      return { code, reason: String(reason) }
    },
  }
}

/** What fastify.mjs and nest.ts have in common: a route with another limit instead, and requests that are not limited. */
async function expectInsteadAndSkip(origin: string): Promise<void> {
  const uploads = await several(3, () => fetch(`${origin}/upload`, { method: 'POST' }))
  expect(uploads.map(({ ok }) => ok)).toEqual([true, true, false])
  expect(uploads[0].headers.get('ratelimit')).toMatch(/^"upload";r=1;t=\d+$/)
  expectDenied(uploads[2], { by: 'upload', withinSeconds: 60 })
  expect((await fetch(`${origin}/health`)).headers.get('ratelimit')).toBeNull()
  const monitor = await fetch(origin, { headers: { 'x-forwarded-for': '192.0.2.10' } })
  expect([monitor.status, monitor.headers.get('ratelimit')]).toEqual([200, null])
}
