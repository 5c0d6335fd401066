import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { Redis } from 'ioredis'
import { createPolicy } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { loadPolicyFile, parsePolicyFile } from 'sluice-service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort, type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { small } from '../policy-file/example-files.js'
import { EXAMPLE, sluice, sluiceHere } from './run-cli.js'

const CHARGE = { method: 'POST', path: '/v1/charges', merchant: 'acct_1', ip: '192.0.2.1' }

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

function explain(request: object, ...more: readonly string[]) {
  return sluiceHere(argsOf(request, more))
}

function argsOf(request: object, more: readonly string[] = []): readonly string[] {
  return ['explain', EXAMPLE, '--request', JSON.stringify(request), ...more]
}

test('explain shows the levels that match with key, limit and units left, and why the others do not match', async () => {
  const { code, stdout, stderr } = await sluice(argsOf({ ...CHARGE, merchant: 'acct_big' }))
  expect(code).toBe(0)
  expect(stderr).toBe('')
  expect(stdout).toBe(`level     key       limit                                         from      cost  left
global    *         token-bucket, capacity 10000, refill 10000/s  level     1     10000 of 10000
merchant  acct_big  token-bucket, capacity 1000, refill 1000/s    override  1     1000 of 1000
charges   acct_big  token-bucket, capacity 50, refill 50/s        level     1     50 of 50

Does not match:
  customers  method is 'POST', and it asks for "GET"
  ip         merchant is 'acct_big', and it asks for null

Allowed: a request like this would pass now and take from global, merchant, charges.
This is a fresh store: nothing has been taken. --store redis://… asks a Redis.
`)
})

test('explain takes attributes as check does, beside --request', async () => {
  const words = ['method=POST', 'path=/v1/charges', 'merchant=acct_big']
  const asJson = await explain({ ...CHARGE, merchant: 'acct_big' })
  expect(await sluiceHere(['explain', EXAMPLE, ...words, 'ip=192.0.2.1'])).toEqual(asJson)
  expect(await sluiceHere(['explain', EXAMPLE, ...words, '--request', '{"ip":"192.0.2.1"}'])).toEqual(asJson)
})

const PLANS = `version: 1
levels:
  - name: user
    key: user
    limit: { algorithm: fixed-window, quota: 10, window: 1h }
    overrides:
      - { when: { plan: [pro, enterprise] }, limit: { algorithm: fixed-window, quota: 100, window: 1h } }
      - { when: { plan: partner }, limit: { algorithm: unlimited } }
      - { when: { user: ann }, limit: { algorithm: unlimited } }
`

test.each([
  [
    { user: 'bob', plan: 'entreprise' },
    `plan is 'entreprise', and they ask for "pro", "enterprise" or "partner"; user is 'bob', and it asks for "ann"`,
  ],
  [
    { user: 'bob' },
    `plan is absent, and they ask for "pro", "enterprise" or "partner"; user is 'bob', and it asks for "ann"`,
  ],
])('explain says of %j why no override matches', async (request, reason) => {
  const { stdout } = await sluiceHere(['explain', '-', '--request', JSON.stringify(request)], { stdin: PLANS })
  expect(stdout).toContain(`\n\nOverrides that do not match:\n  user  ${reason}\n\n`)
})

test.each([
  { user: 'bob', plan: 'pro' },
  { user: 'ann', plan: 'free' },
])('explain has no such section for %j, which an override matches', async (request) => {
  const { stdout } = await sluiceHere(['explain', '-', '--request', JSON.stringify(request)], { stdin: PLANS })
  expect(stdout).not.toContain('Overrides that do not match')
})

test('of many overrides, explain lists five values', async () => {
  const { policy } = parsePolicyFile(PLANS)
  const limit = { algorithm: 'unlimited' } as const
  const overrides = Array.from({ length: 1_000 }, (_, i) => ({ when: { user: `user-${i}` }, limit }))
  const many = createPolicy({ levels: [{ ...policy.levels[0], overrides }] })
  const [{ noOverride }] = many.explain({ user: 'ann' } as never)
  expect(noOverride).toBe(`user is 'ann', and they ask for "user-0", "user-1", "user-2", "user-3", "user-4" or others`)
})

test('a cost above the quota is denied for ever', async () => {
  const { code, stdout } = await explain(CHARGE, '--cost', '60')
  expect(code).toBe(0)
  expect(stdout).toContain('50 of 50, which is not enough')
  expect(stdout).toContain('Denied by charges.\n  charges: takes 60, and 50 is all that it ever has\n')
})

test('explain lists attributes that the policy never asks about, which may be misspelt', async () => {
  const { stdout } = await explain({ method: 'GET', merchnt: 'acct_1', colour: '\u001b[31mred' })
  expect(stdout).toContain("The policy never asks about 'merchnt'; did you mean 'merchant'?\n")
  expect(stdout).toContain("The policy never asks about 'colour'\n")
})

test('control characters in the request do not reach the terminal', async () => {
  const { stdout } = await explain({ merchant: '\u001b[31mred\n', path: '/\u0007' })
  expect(stdout).not.toContain('\u001b')
  expect(stdout).not.toContain('\u0007')
  expect(stdout).toContain('\\u001b[31mred')
})

test('explain prints the problems of a bad file', async () => {
  const ended = await sluiceHere(['explain', '-', '--request', '{}'], { stdin: 'version: 1\nlevels: []\n' })
  expect(ended).toEqual({ code: 1, stdout: '', stderr: 'stdin:2:9 levels must have at least one level\n' })
})

test('with --store, explain shows the units left in Redis, and takes none', async () => {
  const client = new Redis(server.url, { ...ioredisOptions, lazyConnect: true })
  await client.connect()
  const { policy } = await loadPolicyFile(EXAMPLE)
  const stripe = createPolicy({ ...policy, name: 'payments', store: redisStore(client, { deadlineMs: 5_000 }) })
  await stripe.override('merchant', 'acct_3', { algorithm: 'token-bucket', capacity: 7, refill: '7/d' })
  await stripe.check({ merchant: 'acct_3' } as never, { cost: 5 })
  await stripe.charge({ method: 'POST', path: '/v1/charges', merchant: 'acct_2' } as never, { cost: 100_000 })
  client.disconnect()

  for (const cost of ['2', '2', '3']) {
    const { code, stdout } = await explain(
      { merchant: 'acct_3', ip: null },
      '--store',
      server.url,
      '--cost',
      cost,
      '--json',
    )
    expect(code).toBe(0)
    const { levels } = JSON.parse(stdout)
    expect(levels[1]).toMatchObject({ level: 'merchant', from: 'run-time override', cost: Number(cost) })
    expect(levels[1].limits[0].decision).toMatchObject({ quota: 7, remaining: 2 })
  }
  // As a process, which has to end after its answer.
  const { stdout } = await sluice(argsOf({ ...CHARGE, merchant: 'acct_2' }, ['--store', server.url]))
  expect(stdout).toMatch(/^Denied by global, merchant, charges\.$/m)
  expect(stdout).toContain(`As of now in ${server.url}, policy 'payments'.`)
  const apart = await explain({ ...CHARGE, merchant: 'acct_2' }, '--store', server.url, '--prefix', 'other:')
  expect(apart.stdout).toContain('Allowed')
})

test('a Redis that cannot be reached is an error that hides the password', async () => {
  const port = await freePort()
  const { code, stdout, stderr } = await explain(CHARGE, '--store', `redis://user:hunter2@127.0.0.1:${port}/3`)
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^sluice: Redis at redis:\/\/127\.0\.0\.1:\d+\/3 cannot be reached: .*ECONNREFUSED.*\n$/)
  expect(stderr).not.toContain('hunter2')
})

test('a server that never answers is an error after a few seconds', async () => {
  const silent: Server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  const { code, stderr } = await sluice(argsOf(CHARGE, ['--store', `redis://127.0.0.1:${port}`]))
  expect(code).toBe(1)
  expect(stderr).toMatch(/^sluice: Redis at redis:\/\/127\.0\.0\.1:\d+ cannot be reached: no answer within 3000 ms\n$/)
  silent.close()
})

test('a wrong password is an error', async () => {
  const guarded = await startRedis({ args: ['--requirepass', 'hunter2'] })
  try {
    const url = guarded.url.replace('//', '//:wrong@')
    const { code, stderr } = await explain(CHARGE, '--store', url)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^sluice: Redis at [^\n]*(WRONGPASS|NOAUTH)[^\n]*\n$/)
    expect((await explain(CHARGE, '--store', guarded.url.replace('//', '//:hunter2@'))).code).toBe(0)
  } finally {
    await guarded.stop()
  }
})

test('--store needs the name of the policy, from the file or from --name', async () => {
  const args = ['explain', '-', '--request', '{}', '--store', 'redis://127.0.0.1:1']
  const { code, stderr } = await sluiceHere(args, { stdin: small() })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('pass --name') })
})

test('explain tells how long a level blocks a key that exceeds, and that a key is blocked', async () => {
  const limit = '{ algorithm: sliding-log, quota: 5, window: 15m }'
  const more = `    blockFor: 15m
  - { name: b, limit: ${limit}, blockFor: { first: 1m } }
`
  const stdin = small(limit, more)
  const { stdout } = await sluiceHere(['explain', '-', '--request', '{}'], { stdin })
  expect(stdout).toContain('sliding-log, quota 5, window 15m; blocks for 15m ')
  expect(stdout).toContain('blocks for 1m, then 2 times longer up to 1d, forgets after 1d ')
  const json = await sluiceHere(['explain', '-', '--request', '{}', '--json'], { stdin })
  const { levels } = JSON.parse(json.stdout)
  const rules = levels.map(({ blockFor }: { blockFor: unknown }) => blockFor)
  expect(rules).toEqual(['15m', { first: '1m', factor: 2, most: '1d', forget: '1d' }])
})

test('explain on a Redis says that a key may be blocked, and for how long', async () => {
  const client = new Redis(server.port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
  await client.connect()
  const stdin = small('{ algorithm: token-bucket, capacity: 1, refill: 1/s }', '    blockFor: 15m\n')
  const policy = createPolicy({ ...parsePolicyFile(stdin).policy, name: 'blocks', store: redisStore(client) })
  await policy.check({}, { cost: 2 })
  const store = ['--store', `redis://127.0.0.1:${server.port}`, '--name', 'blocks']
  const { stdout } = await sluiceHere(['explain', '-', '--request', '{}', ...store], { stdin })
  client.disconnect()
  expect(stdout).toContain('Denied by a.\n  a: takes 1, and 0 of 1 are left or the key is blocked; it passes in 15')
})
