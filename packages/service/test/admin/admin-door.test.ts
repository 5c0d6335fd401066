import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { DescribedService } from '../openapi/described-service.js'

const folder = mkdtempSync(join(tmpdir(), 'sluice-admin-'))
const file = join(folder, 'policy.yaml')
writeFileSync(
  file,
  `version: 1
name: api
levels:
  - name: global
    limit: { algorithm: token-bucket, capacity: 1000, refill: 1/h }
  - name: user
    key: [user]
    limit: { algorithm: token-bucket, capacity: 5, refill: 1/h }
  - name: pair
    key: [user, route]
    limit: { algorithm: fixed-window, quota: 3, window: 1d }
`,
)
afterAll(() => rmSync(folder, { recursive: true }))

const keyedFile = join(folder, 'keyed.yaml')
writeFileSync(keyedFile, 'version: 1\nlevels: [{ name: user, key: [user], limit: { algorithm: unlimited } }]\n')

const service = new DescribedService({ policy: file })
const keyed = new DescribedService({ policy: keyedFile })
const post = async (path: string, body: object) => service.ask('POST', path, { body })
const check = async (attributes: object) => (await post('/v1/check', { attributes })).body
let user = ''
let users = 0
beforeEach(() => {
  // Each test has its own key.
  user = `user_${++users}`
})

it('peek takes nothing', async () => {
  for (let i = 0; i < 3; i++) {
    const { body } = await post('/v1/admin/peek', { attributes: { user } })
    expect(body.levels.find(({ name }: { name: string }) => name === 'user').remaining).toBe(5)
  }
})

it('explain says which levels match, with keys and limits, and why others do not', async () => {
  const { body } = await post('/v1/admin/explain', { attributes: { user }, cost: 2 })
  expect(body.levels).toMatchObject([
    { level: 'global', matches: true, key: '*', cost: 2 },
    { level: 'user', matches: true, key: user, from: 'level', limits: [{ limit: { capacity: 5 } }] },
    { level: 'pair', matches: false, because: 'route is absent, and its key needs it' },
  ])
})

it('explain lists attributes that the policy never asks about', async () => {
  const { body } = await post('/v1/admin/explain', { attributes: { usr: user, colour: 'red' } })
  expect(body.unused).toEqual([{ attribute: 'usr', didYouMean: 'user' }, { attribute: 'colour' }])
})

it('reset gives a key its whole quota again, in the levels that are named', async () => {
  for (let i = 0; i < 5; i++) await check({ user })
  expect((await check({ user })).deniedBy).toEqual(['user'])
  expect((await post('/v1/admin/reset', { attributes: { user }, levels: ['user'] })).body).toEqual({ reset: ['user'] })
  expect((await check({ user })).allowed).toBe(true)
  expect((await post('/v1/admin/reset', { attributes: { user } })).body).toEqual({ reset: ['global', 'user'] })
})

it('set leaves a key so many units, and spares levels without a key', async () => {
  const attributes = { user }
  expect((await post('/v1/admin/set', { attributes, remaining: 2 })).body).toEqual({ set: ['user'] })
  expect((await post('/v1/admin/peek', { attributes, cost: 3 })).body).toMatchObject({ deniedBy: ['user'] })
  for (const allowed of [true, true, false]) expect((await check({ user })).allowed).toBe(allowed)
  expect((await post('/v1/admin/set', { attributes, remaining: 5, levels: ['user'] })).body).toEqual({ set: ['user'] })
  expect((await check({ user })).levels[1]).toMatchObject({ name: 'user', remaining: 4 })
})

it('block denies a key for a time, also if units are left, and reset ends it', async () => {
  const answer = await post('/v1/admin/block', { attributes: { user, route: 'r' }, duration: '10m' })
  expect(answer.body).toEqual({ blocked: ['user', 'pair'] })
  const denied = await check({ user })
  expect(denied).toMatchObject({ allowed: false, deniedBy: ['user'] })
  expect(denied.retryAfterMs).toBeGreaterThan(590_000)
  expect((await check({ user: 'another' })).allowed).toBe(true)
  await post('/v1/admin/reset', { attributes: { user }, levels: ['user'] })
  expect((await check({ user })).allowed).toBe(true)
})

it('an override applies at once, is listed, ends by its date or when it is removed', async () => {
  const limit = { algorithm: 'token-bucket', capacity: 50, refill: '1/s' }
  const until = new Date(Date.now() + 3_600_000)
  const set = await post('/v1/admin/overrides', { level: 'user', key: user, limit, until: until.toISOString() })
  const override = { level: 'user', key: user, limits: [limit], untilMs: until.getTime() }
  expect(set.body).toEqual({ override })
  await post('/v1/admin/overrides', { level: 'pair', key: [user, 'r|1'], limit: [limit, { ...limit, capacity: 60 }] })
  expect((await check({ user })).levels[1]).toMatchObject({ name: 'user', quota: 50 })
  const { body } = await service.ask('GET', '/v1/admin/overrides')
  expect(body.total).toBe(2)
  expect(body.overrides).toEqual([
    override,
    { level: 'pair', key: [user, 'r|1'], limits: [limit, { ...limit, capacity: 60 }] },
  ])
  expect((await service.ask('GET', '/v1/admin/overrides?level=pair&limit=1')).body.overrides).toHaveLength(1)
  for (const { level, key } of body.overrides)
    expect((await post('/v1/admin/overrides/remove', { level, key })).body).toEqual({ removed: true })
  expect((await service.ask('GET', '/v1/admin/overrides')).body).toEqual({ total: 0, overrides: [] })
  expect((await check({ user })).levels[1].quota).toBe(5)
})

it('top-keys lists the keys of each level by load and by denials', async () => {
  for (let i = 0; i < 8; i++) await check({ user })
  const { body } = await service.ask('GET', '/v1/admin/top-keys?limit=200')
  const level = body.levels.find((each: { level: string }) => each.level === 'user')
  expect(level.byLoad).toContainEqual({ key: user, count: 8, error: 0 })
  expect(level.byDenials).toContainEqual({ key: user, count: 3, error: 0 })
})

it('policy is the file that is in force', async () => {
  const { body } = await service.ask('GET', '/v1/admin/policy')
  expect(body).toMatchObject({ name: 'api', attributes: ['user', 'route'], policy: { version: 1 }, warnings: [] })
  expect(body.policy.levels.map(({ name }: { name: string }) => name)).toEqual(['global', 'user', 'pair'])
})

it.each<[string, string, object, RegExp]>([
  ['an unknown member', 'reset', { attributes: {}, cost: 1 }, /there is no member 'cost'; the object has attributes/],
  ['a wrong cost', 'peek', { attributes: {}, cost: -1 }, /cost must be a whole number from 0, got -1/],
  [
    'no number of units',
    'set',
    { attributes: { user: 'a' } },
    /level 'user': remaining must be a whole number from 0 to 5/,
  ],
  ['more than the quota', 'set', { attributes: { user: 'a' }, remaining: 6 }, /from 0 to 5, the quota, got 6/],
  ['a set of no key', 'set', { attributes: {}, remaining: 0 }, /nothing would be set: the request matches global/],
  ['attributes that are no object', 'peek', { attributes: 'x' }, /attributes must be an object/],
  ['an attribute that is an object', 'explain', { attributes: { user: {} } }, /the attribute user/],
  ['levels that are no list', 'reset', { attributes: {}, levels: 'user' }, /levels must be a list of names/],
  [
    'a reset of levels that do not match',
    'reset',
    { attributes: {}, levels: ['user'] },
    /nothing would be reset: the request matches global, and levels names others/,
  ],
  ['a reset of no level', 'reset', { attributes: {}, levels: [] }, /nothing would be reset/],
  ['an unknown level', 'reset', { attributes: {}, levels: ['usr'] }, /did you mean 'user'/],
  ['no duration', 'block', { attributes: { user: 'a' } }, /duration must be there, such as "10m"/],
  ['a wrong duration', 'block', { attributes: { user: 'a' }, duration: 'soon' }, /duration must be/],
  ['a duration without a unit', 'block', { attributes: { user: 'a' }, duration: 600 }, /write '600s' for seconds/],
  [
    'a block of no key',
    'block',
    { attributes: {}, duration: '1m' },
    /nothing would be blocked: the request matches global/,
  ],
  ['an override of an unknown level', 'overrides', { level: 'usr', key: 'a', limit: {} }, /did you mean 'user'/],
  [
    'an override without a level',
    'overrides',
    { key: 'a', limit: {} },
    /^level must be the name of a level of the policy, got/,
  ],
  ['an override without a key', 'overrides', { level: 'user', limit: {} }, /key must be text/],
  [
    'a limit with a mistake',
    'overrides',
    { level: 'user', key: 'a', limit: { algorithm: 'bucket' } },
    /limit.*algorithm/,
  ],
  [
    'an end without a time zone',
    'overrides',
    { level: 'user', key: 'a', limit: { algorithm: 'token-bucket', capacity: 1, refill: '1/s' }, until: '2027-01-31' },
    /until must be a time such as "2027-01-31T12:00:00Z"/,
  ],
  [
    'an end that is over',
    'overrides',
    { level: 'user', key: 'a', limit: { algorithm: 'token-bucket', capacity: 1, refill: '1/s' }, until: 1 },
    /until must be a time that is still to come/,
  ],
  ['a removal without a key', 'overrides/remove', { level: 'pair', key: 'a' }, /key must be a list/],
])('%s is a 400 that says what is right, and changes nothing', async (_, path, body, text) => {
  const answer = await post(`/v1/admin/${path}`, body)
  expect(answer.status).toBe(400)
  expect(answer.body.detail).toMatch(text)
  expect((await service.ask('GET', '/v1/admin/overrides')).body.total).toBe(0)
})

it.each<[string, object]>([
  ['peek', {}],
  ['reset', {}],
  ['block', { duration: '1m' }],
  ['set', { remaining: 0 }],
])('%s of a request that matches no level is a 400 that says so', async (path, more) => {
  const { status, body } = await keyed.ask('POST', `/v1/admin/${path}`, { body: { attributes: { usr: 'a' }, ...more } })
  expect(status).toBe(400)
  expect(body.detail).toMatch(
    /^nothing would be .*: the request matches no level. The policy asks about user; did you mean user by usr\?$/,
  )
})

it.each([
  ['/v1/admin/overrides?limit=0', /limit must be a whole number from 1 to 10000/],
  ['/v1/admin/overrides?limit=1e3', /limit must be/],
  ['/v1/admin/overrides?lmit=1', /there is no parameter 'lmit'; this resource has level, limit/],
  ['/v1/admin/overrides?limit=1&limit=2', /must come once/],
  ['/v1/admin/top-keys?limit=201', /from 1 to 200/],
  ['/v1/admin/events?keys=x', /keys must be/],
])('GET %s is a 400 that says what is right', async (path, text) => {
  const answer = await service.ask('GET', path)
  expect(answer.status).toBe(400)
  expect(answer.body.detail).toMatch(text)
})
