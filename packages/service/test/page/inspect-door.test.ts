/** `POST /v1/inspect`: what it says, that it takes nothing, and what it hides from a reader without the admin token. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { InspectAnswer } from '../../src/live/inspect-answer.js'
import { startTestService, type TestService } from '../serve/test-service.js'

const TOKEN = 'a-token-for-the-tests'
const bucket = (capacity: number) => ({ algorithm: 'token-bucket', capacity, refill: '1/h' })
const LEVELS = [
  { name: 'global', limit: bucket(1_000) },
  {
    name: 'merchant',
    key: ['merchant'],
    limit: bucket(5),
    overrides: [{ when: { merchant: ['acct_secret', 'acct_other'] }, limit: bucket(50) }],
  },
  { name: 'beta', when: { plan: 'beta-of-acme' }, limit: bucket(10) },
  { name: 'charges', when: { method: 'POST', path: '/v1/charges' }, key: ['merchant'], limit: bucket(3) },
  { name: 'ip', when: { merchant: null }, key: ['ip'], limit: bucket(2) },
  { name: 'pair', key: ['merchant', 'region'], shadow: true, limit: bucket(1) },
]
const attributes = { method: 'GET', path: '/v1/customers', merchant: 'acct_mine', plan: 'gold' }

let service: TestService
beforeAll(async () => {
  service = await startTestService(LEVELS, { 'admin-token': TOKEN }, 'shop')
})
afterAll(() => service.close())

async function ask(path: string, body: object, token?: string) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as InspectAnswer & { readonly detail: string } }
}

const inspect = (body: object, token?: string) => ask('/v1/inspect', body, token)

/** Makes a request and gives its id, as the stream of the page would. */
async function decided(request: object): Promise<string> {
  const { recents } = service.service.recorder
  await ask('/v1/check', request)
  recents.add(recents.take())
  return String(recents.all.at(-1)?.id)
}

const levelOf = ({ levels }: InspectAnswer, name: string) => levels.find(({ level }) => level === name)

test('it says what a check would say now, level by level, and takes nothing', async () => {
  const request = { attributes: { ...attributes, merchant: 'acct_a' }, cost: 4 }
  await ask('/v1/check', request)
  for (let i = 0; i < 3; i++) {
    const { status, body } = await inspect(request)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      policy: 'shop',
      allowed: false,
      deniedBy: ['merchant'],
      attributes: request.attributes,
      cost: 4,
      unused: [],
      isMasked: false,
    })
    expect(Math.abs(body.atMs - Date.now())).toBeLessThan(60_000)
    const decision = levelOf(body, 'merchant')?.limits?.[0].decision
    expect(decision).toMatchObject({ allowed: false, quota: 5, remaining: 1 })
    expect(body.retryAfterMs).toBe(decision?.retryAfterMs)
  }
  expect((await inspect({ ...request, cost: 1 })).body).toMatchObject({ allowed: true, deniedBy: [], retryAfterMs: 0 })
  const never = (await inspect({ ...request, cost: 6 })).body
  expect([never.allowed, 'retryAfterMs' in never]).toEqual([false, false])
})

test('a shadow level denies nothing here either', async () => {
  const request = { attributes: { merchant: 'acct_shadow', region: 'eu' }, cost: 2 }
  const { body } = await inspect(request)
  expect([body.allowed, levelOf(body, 'pair')?.key]).toEqual([true, 'acct_shadow|eu'])
})

test('without the token, the conditions of the policy name no client; with it they do', async () => {
  const open = (await inspect({ attributes })).body
  expect(levelOf(open, 'merchant')).toMatchObject({
    key: 'acct_mine',
    noOverride: "merchant is 'acct_mine', and it asks for another value",
  })
  expect(levelOf(open, 'beta')?.because).toBe("plan is 'gold', and it asks for another value")
  expect(levelOf(open, 'charges')?.because).toBe(`method is 'GET', and it asks for "POST"`)
  expect(levelOf(open, 'ip')?.because).toBe("merchant is 'acct_mine', and it asks for null")
  expect(JSON.stringify(open)).not.toMatch(/acct_secret|acct_other|beta-of-acme/)
  const full = (await inspect({ attributes }, TOKEN)).body
  expect(levelOf(full, 'merchant')?.noOverride).toBe(
    `merchant is 'acct_mine', and it asks for "acct_secret" or "acct_other"`,
  )
  expect(levelOf(full, 'beta')?.because).toBe(`plan is 'gold', and it asks for "beta-of-acme"`)
})

test('of a recent request, a reader without the token sees no key and no value, but the same mask for the same text', async () => {
  const recent = await decided({ attributes: { ...attributes, merchant: 'acct_hidden', region: 'north' }, cost: 2 })
  const { text, body } = await inspect({ recent })
  expect(text).not.toMatch(/acct_|north|gold|beta-of/)
  expect(body).toMatchObject({ isMasked: true, cost: 2, attributes: { method: 'GET', path: '/v1/customers' } })
  const mask = levelOf(body, 'merchant')?.key
  expect(mask).toMatch(/^•••• [\da-f]{6}$/)
  expect(body.attributes.merchant).toBe(mask)
  expect(levelOf(body, 'ip')?.because).toBe(`merchant is '${mask}', and it asks for null`)
  expect(levelOf(body, 'pair')?.key).toMatch(/^•••• [\da-f]{6}$/)
  expect(levelOf(body, 'global')?.key).toBe('*')
  expect(levelOf(body, 'merchant')?.limits?.[0].decision.remaining).toBe(3)
  const full = await inspect({ recent, cost: 0 }, TOKEN)
  expect(full.body).toMatchObject({
    isMasked: false,
    cost: 0,
    attributes: { merchant: 'acct_hidden', region: 'north' },
  })
  expect(levelOf(full.body, 'pair')?.key).toBe('acct_hidden|north')
})

test('of a recent request it says what was decided then, beside what would be decided now', async () => {
  const request = { attributes: { merchant: 'acct_then' }, cost: 5 }
  await ask('/v1/check', request)
  const recent = await decided(request)
  const admin = { attributes: request.attributes, levels: ['merchant'] }
  expect((await ask('/v1/admin/reset', admin, TOKEN)).status).toBe(200)
  const { body } = await inspect({ recent })
  expect(body).toMatchObject({ allowed: true, deniedBy: [] })
  expect(body.decided).toMatchObject({ allowed: false, deniedBy: ['merchant'], degraded: false })
  expect(Math.abs((body.decided?.atMs ?? 0) - Date.now())).toBeLessThan(60_000)
  expect((await inspect(request)).body.decided).toBeUndefined()
})

test('a wrong token is refused, also with a right body, and the refusal tells nothing', async () => {
  const refused = await inspect({ attributes }, 'another-token-of-16')
  expect([refused.status, refused.body.detail]).toEqual([401, expect.stringContaining('this is not the admin token')])
  expect(refused.text).not.toContain('acct_')
})

test.each([
  [{ recent: 'no-such-id' }, 404, 'the request is no longer kept'],
  [{ recent: 7 }, 400, 'recent must be the id of a recent request, got 7'],
  [{ recent: 'x', attributes: {} }, 400, 'either attributes or recent must be there'],
  [{ attributes: [] }, 400, 'attributes must be an object'],
  [{ attributes, cost: -1 }, 400, 'cost must be a whole number from 0'],
  [{ atributes: {} }, 400, "there is no member 'atributes'"],
])('the question %j is answered with status %i', async (question, status, detail) => {
  const answer = await inspect(question)
  expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)])
})

test('names and values that look like programs come back as the texts that they are', async () => {
  const hostile = JSON.parse('{"__proto__":"x","merchant":"<img src=x onerror=alert(1)>","constructor":"y"}')
  const { body } = await inspect({ attributes: hostile })
  expect(Object.entries(body.attributes)).toEqual(Object.entries(hostile))
  expect(levelOf(body, 'merchant')?.key).toBe('<img src=x onerror=alert(1)>')
  expect(body.unused.map(({ attribute }) => attribute)).toEqual(['__proto__', 'constructor'])
})

test('an error about a value of a recent request does not quote the value', async () => {
  const recent = await decided({ attributes: { merchant: 'acct_changed', plan: 'platinum' } })
  const { file } = service.service
  const policy = { ...file.policy, levels: [{ name: 'costly', cost: 'plan', limit: bucket(9) }] }
  service.service.use({ ...file, policy: policy as never })
  const refused = await inspect({ recent })
  expect([refused.status, refused.text.includes('platinum')]).toEqual([400, false])
  expect((await inspect({ recent }, TOKEN)).body.detail).toContain("got 'platinum'")
  service.service.use(file)
})

test('without an admin token the service inspects as well, and refuses any token', async () => {
  const open = await startTestService(LEVELS)
  try {
    const question = (headers: Record<string, string>) =>
      fetch(`${open.url}/v1/inspect`, { method: 'POST', headers, body: JSON.stringify({ attributes }) })
    expect((await question({})).status).toBe(200)
    expect((await question({ authorization: `Bearer ${TOKEN}` })).status).toBe(403)
  } finally {
    await open.close()
  }
})

test('an attribute that the policy does not ask about may be anything', async () => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  const body = `{"attributes":{"deep":${deep},"odd":{"toString":1},"list":[1,"b"],"lists":[[1]],"gone":null}}`
  const response = await fetch(`${service.url}/v1/inspect`, { method: 'POST', body })
  const { attributes: told } = (await response.json()) as InspectAnswer
  expect(told).toEqual({ deep: 'a list', odd: 'an object', list: '1, b', lists: 'a list' })
})
