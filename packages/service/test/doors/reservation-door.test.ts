import { claimOnce } from 'sluice'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parsePolicyFile } from '../../src/policy-file/parse-policy-file.js'
import { DOOR_STORES } from '../serve/door-stores.js'
import { startTestService, type TestService } from '../serve/test-service.js'

const bucket = (capacity: number) => ({ algorithm: 'token-bucket', capacity, refill: '1/d' })
const levels = [
  { name: 'requests', key: ['user'], cost: 1, limit: bucket(10) },
  { name: 'tokens', key: ['user'], cost: 'tokens', limit: bucket(100) },
]

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown> & { readonly levels?: readonly { readonly remaining: number }[] }
}

describe.each(DOOR_STORES)('the reservation door $where', ({ settings, stop }) => {
  let service: TestService
  let users = 0

  beforeAll(async () => {
    service = await startTestService(levels, await settings())
  })
  afterAll(async () => {
    await service?.close()
    await stop()
  })

  const post = async (path: string, body: unknown, key?: string): Promise<Answer> => {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key }
    const response = await fetch(`${service.url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  const freshUser = () => `user-${++users}`
  const left = async (user: string) => {
    const { body } = await post('check', { attributes: { user, tokens: 0 }, cost: 0 })
    return body.levels?.map(({ remaining }) => remaining)[1]
  }
  const reserve = (user: string, more: object = {}, key?: string) =>
    post('reserve', { attributes: { user, tokens: 40 }, ttl: '1m', ...more }, key)

  test('a reservation is settled once, and a repeated settle or cancel changes nothing', async () => {
    const user = freshUser()
    const { status, body } = await reserve(user)
    expect(status).toBe(200)
    expect(Number.isInteger(body.endsAtMs)).toBe(true)
    expect(body).toMatchObject({ allowed: true, id: expect.any(String), endsAtMs: expect.any(Number) })
    expect(await left(user)).toBe(60)
    const settle = () => post('settle', { id: body.id, actual: { tokens: 25 } })
    expect((await settle()).body).toEqual({ settled: true })
    expect((await settle()).body).toEqual({ settled: false })
    expect((await post('cancel', { id: body.id })).body).toEqual({ cancelled: false })
    expect(await left(user)).toBe(75)
  })

  test('a reservation is cancelled once', async () => {
    const user = freshUser()
    const { body } = await reserve(user)
    expect((await post('cancel', { id: body.id })).body).toEqual({ cancelled: true })
    expect((await post('cancel', { id: body.id })).body).toEqual({ cancelled: false })
    expect(await left(user)).toBe(100)
  })

  test('a denied reservation has no id and takes nothing', async () => {
    const user = freshUser()
    const { status, body } = await reserve(user, { attributes: { user, tokens: 101 } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ allowed: false, id: null, endsAtMs: null, deniedBy: ['tokens'], retryAfterMs: null })
    expect(await left(user)).toBe(100)
  })

  test('a reserve that is repeated with its Idempotency-Key gets the same answer and takes nothing', async () => {
    const user = freshUser()
    const answers = [
      await reserve(user, {}, 'key-1'),
      await reserve(user, {}, '"key-1"'),
      await reserve(user, {}, 'key-1'),
    ]
    expect(answers[1]).toEqual(answers[0])
    expect(answers[2]).toEqual(answers[0])
    expect(await left(user)).toBe(60)
    const other = await reserve(freshUser(), {}, 'key-1')
    expect(other).toMatchObject({ status: 422, body: { title: 'The Idempotency-Key is in use' } })
  })

  test('a refund with an Idempotency-Key takes effect once', async () => {
    const user = freshUser()
    await post('check', { attributes: { user, tokens: 50 } })
    const refund = (key?: string) => post('refund', { attributes: { user, tokens: 10 } }, key)
    expect((await refund('refund-1')).body).toMatchObject({ refunded: true, allowed: true })
    expect((await refund('refund-1')).body).toMatchObject({ refunded: false, allowed: true })
    expect(await left(user)).toBe(60)
    expect((await refund()).body.refunded).toBe(true)
    expect(await left(user)).toBe(70)
  })

  test.each([
    ['reserve', { attributes: {} }, 'ttl must be a duration up to 1d'],
    ['reserve', { attributes: {}, ttl: '2d' }, 'ttl must be a duration up to 1d, such as "30s", got "2d"'],
    ['reserve', { attributes: {}, ttl: 'soon' }, 'ttl must be a duration'],
    ['reserve', { attributes: {}, ttl: 30 }, "write '30s' for seconds or '30ms' for milliseconds"],
    ['reserve', { ttl: '1m', costs: 1 }, "there is no member 'costs'"],
    ['settle', { id: 'a' }, 'actual must be a whole number from 0, or an object of attributes'],
    ['settle', { id: 'a', actual: -1 }, 'actual must be a whole number from 0, or an object of attributes, got -1'],
    ['settle', { id: 5, actual: 1 }, 'id must be the id that /v1/reserve answered, got 5'],
    ['settle', { id: 'a', actual: 1, ttl: 1 }, "there is no member 'ttl'"],
    ['cancel', {}, 'id must be the id that /v1/reserve answered'],
    ['refund', { attributes: [] }, 'attributes must be an object'],
  ])('%s %j is a bad request', async (path, body, detail) => {
    const answer = await post(path, body)
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toContain(detail)
  })

  test('a wrong attribute in a settle leaves the reservation open', async () => {
    const user = freshUser()
    const { body } = await reserve(user)
    expect((await post('settle', { id: body.id, actual: { tokns: 1 } })).status).toBe(400)
    expect(await left(user)).toBe(60)
    expect((await post('settle', { id: body.id, actual: { tokens: 0 } })).body).toEqual({ settled: true })
    expect(await left(user)).toBe(100)
  })
})

test('a reserve that is repeated after a reload with other levels gets the same answer and takes nothing', async () => {
  const service = await startTestService(levels)
  onTestFinished(() => service.close())
  const reserve = async (attributes: object) => {
    const headers = { 'Idempotency-Key': 'call-1' }
    const body = JSON.stringify({ attributes, ttl: '1m' })
    const response = await fetch(`${service.url}/v1/reserve`, { method: 'POST', headers, body })
    return { status: response.status, body: await response.text() }
  }
  const attributes = { user: 'a', plan: 'free', tokens: 40 }
  const first = await reserve(attributes)
  const { service: decisions } = service
  const more = [...levels.slice(1), { name: 'plan', key: ['plan'], limit: bucket(5) }]
  decisions.use(parsePolicyFile(JSON.stringify({ version: 1, levels: more }), { file: 'test.json' }))
  expect(await reserve(attributes)).toEqual(first)
  expect((await decisions.policy.peek(attributes)).levels.map(({ decision }) => decision.remaining)).toEqual([60, 5])
  expect((await reserve({ ...attributes, user: 'b' })).status).toBe(422)
  expect((await reserve({ user: 'a' })).status).toBe(422)
})

test('half a million keys of refunds leave room for reservations', { timeout: 60_000 }, async () => {
  const service = await startTestService(levels)
  onTestFinished(() => service.close())
  const { claims } = service.service
  for (let i = 0; i < 500_000; i++) claimOnce(claims, `${i}`, { ttl: '1h' })
  const body = JSON.stringify({ attributes: { user: 'a', tokens: 1 }, ttl: '1m' })
  const { status } = await fetch(`${service.url}/v1/reserve`, { method: 'POST', body })
  expect(status).toBe(200)
})
