import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { DescribedService, TOKEN } from '../openapi/described-service.js'
import { scrape } from '../recorder/serve-here.js'
import { sluiceHere } from './run-cli.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-extremes-'))
const file = join(folder, 'policy.yaml')
writeFileSync(
  file,
  `version: 1
name: shop
levels:
  - name: user
    key: user
    limit: { algorithm: token-bucket, capacity: 5, refill: 1/h }
    overrides:
      - { when: { user: partner }, limit: { algorithm: unlimited } }
      - { when: { user: gone }, limit: { algorithm: fixed-window, quota: 0, window: 1m } }
`,
)
afterAll(() => rmSync(folder, { recursive: true }))

const service = new DescribedService({
  policy: file,
  'trusted-proxies': '127.0.0.0/8',
  'gate-attributes': 'user=x-user',
})
const post = async (path: string, body: object) => (await service.ask('POST', path, { body })).body
const check = (user: string) => post('/v1/check', { attributes: { user } })
const cli = (...args: readonly string[]) => sluiceHere([...args, '--url', service.running.url])

test('validate accepts both, without a warning about customers that an override exempts or shuts out', async () => {
  const { code, stdout } = await sluiceHere(['validate', file])
  expect([code, stdout]).toEqual([0, `${file}: 1 level, 1 attribute (user)\n`])
})

test('validate says that a level is unlimited for all', async () => {
  const free = join(folder, 'free.yaml')
  writeFileSync(free, 'version: 1\nlevels:\n  - name: free\n    limit: { algorithm: unlimited }\n')
  const { code, stdout } = await sluiceHere(['validate', free])
  expect(code).toBe(0)
  expect(stdout).toContain("free.yaml:4:12 warning: 'free' can never deny: it is unlimited\n")
})

test('explain says that a key is unlimited, or that its limit never has a unit', async () => {
  const explain = async (user: string) =>
    (await sluiceHere(['explain', file, '--request', JSON.stringify({ user })])).stdout
  expect(await explain('partner')).toContain(`level  key      limit      from      cost  left
user   partner  unlimited  override  1     unlimited

Allowed: a request like this would pass now and take from user.
`)
  expect(await explain('gone')).toContain('0 of 0, which is not enough')
  expect(await explain('gone')).toContain('Denied by user.\n  user: takes 1, and 0 is all that it ever has\n')
  const json = JSON.parse((await sluiceHere(['explain', file, '--request', '{"user":"partner"}', '--json'])).stdout)
  expect(json.levels[0].limits[0].decision).toMatchObject({ allowed: true, quota: null, remaining: null })
})

test('the service writes no limit as null, as its schemas say, and denies for ever under a limit of 0', async () => {
  const partner = await check('partner')
  expect(partner).toMatchObject({
    allowed: true,
    levels: [{ name: 'user', quota: null, remaining: null, resetAfterMs: 0 }],
  })
  const gone = await check('gone')
  expect(gone).toMatchObject({ allowed: false, retryAfterMs: null, levels: [{ quota: 0, remaining: 0 }] })
  const reserved = await post('/v1/reserve', { attributes: { user: 'partner' }, ttl: '1m' })
  expect(reserved).toMatchObject({ allowed: true, levels: [{ quota: null }] })
  expect(await post('/v1/settle', { id: reserved.id, actual: 5 })).toMatchObject({ settled: true })
  const explained = await post('/v1/admin/explain', { attributes: { user: 'partner' } })
  expect(explained.levels[0].limits[0].decision).toMatchObject({ quota: null, remaining: null })
})

test('check prints both for people', async () => {
  expect((await cli('check', 'user=partner')).stdout).toBe('Allowed.\n\nlevel  left\nuser   unlimited\n')
  expect((await cli('check', 'user=gone')).stdout).toBe(
    'Denied by user: a request like this never passes.\n\nlevel  left\nuser   0 of 0  denies, a request like this never passes\n',
  )
})

test('a run-time override exempts a customer and shuts one out, and a block holds for both', async () => {
  await post('/v1/admin/overrides', { level: 'user', key: 'a', limit: { algorithm: 'unlimited' } })
  await post('/v1/admin/overrides', { level: 'user', key: 'b', limit: { algorithm: 'concurrency', max: 0 } })
  expect((await check('a')).levels[0]).toMatchObject({ allowed: true, quota: null })
  expect((await check('b')).levels[0]).toMatchObject({ allowed: false, quota: 0, retryAfterMs: null })
  await post('/v1/admin/block', { attributes: { user: 'a' }, duration: '1h' })
  const { allowed, levels } = await check('a')
  expect([allowed, levels[0].quota, levels[0].remaining]).toEqual([false, null, 0])
  expect((await cli('check', 'user=a')).stdout).toMatch(/\nuser {3}0 {5}denies, come back in 60 min\n$/)
})

test('the gate writes no quota for an unlimited key, and q=0 for a limit of 0', async () => {
  const ask = async (user: string) => {
    const fields = { 'x-original-method': 'GET', 'x-original-uri': '/', 'x-forwarded-for': '192.0.2.7', 'x-user': user }
    return fetch(`${service.running.url}/v1/gate`, { headers: fields })
  }
  const partner = await ask('partner')
  expect([partner.status, partner.headers.get('ratelimit'), partner.headers.get('ratelimit-policy')]).toEqual([
    204,
    null,
    null,
  ])
  const gone = await ask('gone')
  expect([gone.status, gone.headers.get('ratelimit-policy'), gone.headers.get('retry-after')]).toEqual([
    429,
    '"user";q=0;w=60',
    null,
  ])
})

test('metrics and summaries count the decisions of both, and contain no infinite value', async () => {
  await check('partner')
  expect((await scrape(service.running.url)).size).toBeGreaterThan(0)
  const text = await (await fetch(`${service.running.url}/metrics`)).text()
  expect(text.split('\n').filter((line) => / (\+Inf|NaN)$/.test(line))).toEqual([])
  const top = await cli('top', '--once', '--admin-token', TOKEN)
  expect(top.stdout).toContain('partner')
  expect(top.stdout).not.toMatch(/Infinity|NaN|null/)
})
