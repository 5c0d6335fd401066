import { status } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'
import { SHOULD_RATE_LIMIT } from '../../src/envoy/envoy-methods.js'
import { entriesOf, type ForeignResponse, fieldsOf, requestOf, startDoor } from './door-service.js'

const day = (quota: number) => ({ algorithm: 'fixed-window', quota, window: '1d' })
const USER = [{ name: 'user', key: 'user', limit: day(3) }]
const codes = ({ overallCode, statuses }: ForeignResponse) => [overallCode, ...statuses.map(({ code }) => code)]
const left = ({ statuses }: ForeignResponse) => statuses.map(({ limitRemaining = 0 }) => limitRemaining)

describe('a descriptor', () => {
  it('is a request whose entries are attributes, and gets the status of its level', async () => {
    const { ask } = await startDoor(USER)
    const first = await ask(requestOf({ user: 'ann', other: 'ignored' }))
    expect(first.statuses).toEqual([
      {
        code: 'OK',
        currentLimit: { requestsPerUnit: 3, unit: 'DAY', name: 'user' },
        limitRemaining: 2,
        durationUntilReset: expect.any(Object),
      },
    ])
    const { seconds = 0 } = first.statuses[0].durationUntilReset ?? {}
    expect(seconds).toBeLessThanOrEqual(86_400)
    expect(left(await ask(requestOf({ user: 'bob' })))).toEqual([2])
    expect(left(await ask({ ...requestOf({ user: 'ann' }), hitsAddend: 2 }))).toEqual([0])
    const denied = await ask(requestOf({ user: 'ann' }))
    expect(codes(denied)).toEqual(['OVER_LIMIT', 'OVER_LIMIT'])
    expect(denied.dynamicMetadata).toEqual({
      fields: { deniedBy: { listValue: { values: [{ stringValue: 'user' }] } } },
    })
    expect(JSON.parse(Buffer.from(denied.rawBody ?? []).toString())).toMatchObject({
      status: 429,
      'violated-policies': ['user'],
    })
  })

  it('that matches no level is allowed, without a limit', async () => {
    const { ask } = await startDoor(USER)
    expect((await ask(requestOf({ tenant: 'ann' }))).statuses).toEqual([{ code: 'OK' }])
    expect((await ask({ domain: 'api', descriptors: [{}] })).statuses).toEqual([{ code: 'OK' }])
  })

  it('has the domain as an attribute, and remote_address as ip', async () => {
    const { ask } = await startDoor([
      { name: 'domain', key: 'domain', limit: day(5) },
      { name: 'address', key: 'ip', limit: day(2) },
      { name: 'raw', key: 'remote_address', when: { remote_address: '10.0.0.9' }, limit: day(1) },
    ])
    expect(left(await ask(requestOf({ remote_address: '10.0.0.1' })))).toEqual([1])
    expect(left(await ask(requestOf({ ip: '10.0.0.1', remote_address: '10.0.0.2' })))).toEqual([0])
    expect(left(await ask(requestOf({ remote_address: '10.0.0.9' })))).toEqual([0])
    expect(left(await ask({ ...requestOf({ tenant: 'x' }), domain: 'other' }))).toEqual([4])
    expect(left(await ask(requestOf({ domain: 'other' })))).toEqual([3])
  })

  it('with a key twice is refused if the values differ', async () => {
    const { ask, failure } = await startDoor(USER)
    const entries = (second: string) => [
      { key: 'user', value: 'ann' },
      { key: 'user', value: second },
    ]
    expect(left(await ask({ domain: 'api', descriptors: [{ entries: entries('ann') }] }))).toEqual([2])
    expect(await failure({ domain: 'api', descriptors: [{ entries: entries('bob') }] })).toEqual([
      status.INVALID_ARGUMENT,
      expect.stringContaining("a descriptor has the key 'user' twice with different values"),
    ])
  })

  it('whose keys are names of inherited members is harmless', async () => {
    const { ask } = await startDoor([{ name: 'proto', key: 'constructor', limit: day(2) }])
    expect(left(await ask(requestOf({ constructor: 'x', toString: 'y' })))).toEqual([1])
    const entries = [{ key: '__proto__', value: 'x' }]
    expect((await ask({ domain: 'api', descriptors: [{ entries }] })).statuses).toEqual([{ code: 'OK' }])
  })

  it('that misspells an attribute is logged once', async () => {
    const { ask, service } = await startDoor([{ name: 'merchant', key: 'merchant', limit: day(2) }])
    for (let i = 0; i < 3; i++) await ask(requestOf({ merchnat: 'acme' }))
    expect(service.logged.filter((line) => line.includes('"didYouMean":"merchant"'))).toHaveLength(1)
  })
})

describe('several descriptors', () => {
  const levels = [
    { name: 'user', key: 'user', limit: day(3) },
    { name: 'tenant', key: 'tenant', limit: day(5) },
  ]

  it('pass together, or none takes anything', async () => {
    const { ask } = await startDoor(levels)
    expect(left(await ask(requestOf({ user: 'ann' }, { tenant: 'acme' }, { user: 'ann' })))).toEqual([1, 4, 1])
    const denied = await ask(requestOf({ tenant: 'acme' }, { user: 'ann' }, { user: 'ann' }))
    expect(codes(denied)).toEqual(['OVER_LIMIT', 'OK', 'OVER_LIMIT', 'OVER_LIMIT'])
    expect(left(await ask(requestOf({ tenant: 'acme' })))).toEqual([3])
    expect(left(await ask(requestOf({ user: 'ann' })))).toEqual([0])
  })

  it('have their own hits: in place of those of the request, and 0 only looks', async () => {
    const { ask } = await startDoor(levels)
    const [user, tenant] = requestOf({ user: 'ann' }, { tenant: 'acme' }).descriptors ?? []
    const asked = { domain: 'api', hitsAddend: 2, descriptors: [{ ...user, hitsAddend: { value: 3 } }, tenant] }
    expect(left(await ask(asked))).toEqual([0, 3])
    const looks = {
      domain: 'api',
      descriptors: [
        { ...user, hitsAddend: {} },
        { ...tenant, hitsAddend: { value: 0 } },
      ],
    }
    for (let i = 0; i < 2; i++) {
      const looked = await ask(looks)
      expect([codes(looked), left(looked)]).toEqual([
        ['OK', 'OK', 'OK'],
        [0, 3],
      ])
    }
    const huge = await ask({ domain: 'api', descriptors: [{ ...tenant, hitsAddend: { value: 2 ** 53 } }] })
    expect(codes(huge)).toEqual(['OVER_LIMIT', 'OVER_LIMIT'])
  })

  it('give back with negative hits, unless another is denied', async () => {
    const { ask } = await startDoor(levels)
    const [user, tenant] = requestOf({ user: 'ann' }, { tenant: 'acme' }).descriptors ?? []
    await ask({ domain: 'api', descriptors: [{ ...user, hitsAddend: { value: 3 } }] })
    const given = { ...user, hitsAddend: { value: 2 }, isNegativeHits: true }
    expect(left(await ask({ domain: 'api', descriptors: [given] }))).toEqual([2])
    const denied = await ask({ domain: 'api', descriptors: [given, { ...tenant, hitsAddend: { value: 9 } }] })
    expect([codes(denied), left(denied)]).toEqual([
      ['OVER_LIMIT', 'OK', 'OVER_LIMIT'],
      [0, 5],
    ])
    const both = await ask({ domain: 'api', descriptors: [tenant, { ...given, hitsAddend: { value: 9 } }, tenant] })
    expect([codes(both), left(both)]).toEqual([
      ['OK', 'OK', 'OK', 'OK'],
      [3, 3, 3],
    ])
  })
})

describe('limits in the request', () => {
  const withLimit = (user: string, requestsPerUnit: number, unit: number) => ({
    domain: 'api',
    descriptors: [{ entries: entriesOf({ user }), limit: { requestsPerUnit, unit } }],
  })

  it('replace those of the policy', async () => {
    const { ask } = await startDoor(USER)
    const wide = await ask(withLimit('ann', 100, 4))
    expect(wide.statuses[0]).toMatchObject({
      currentLimit: { requestsPerUnit: 100, unit: 'DAY', name: 'user' },
      limitRemaining: 99,
    })
    expect(left(await ask(requestOf({ user: 'ann' })))).toEqual([1])
    for (const [unit, name] of [
      [1, 'SECOND'],
      [2, 'MINUTE'],
      [3, 'HOUR'],
      [5, 'MONTH'],
      [6, 'YEAR'],
    ] as const)
      expect((await ask(withLimit('bob', 7, unit))).statuses[0]).toMatchObject({
        currentLimit: { unit: name },
        limitRemaining: 6,
      })
    expect(codes(await ask(withLimit('eve', 0, 2)))).toEqual(['OVER_LIMIT', 'OVER_LIMIT'])
  })

  it('of an unknown unit leave those of the policy', async () => {
    const { ask } = await startDoor(USER)
    for (const unit of [0, 99])
      expect((await ask(withLimit(`u${unit}`, 100, unit))).statuses[0]).toMatchObject({ limitRemaining: 2 })
  })

  it('are given back by what they counted', async () => {
    const { ask } = await startDoor(USER)
    await ask({ ...withLimit('ann', 10, 3), hitsAddend: 4 })
    const [descriptor] = withLimit('ann', 10, 3).descriptors
    const refund = { ...descriptor, hitsAddend: { value: 3 }, isNegativeHits: true }
    expect(left(await ask({ domain: 'api', descriptors: [refund] }))).toEqual([9])
  })

  it('are bounded in number', async () => {
    const { ask, failure } = await startDoor(USER)
    for (let i = 0; i < 10; i++) {
      const descriptors = Array.from({ length: 1_000 }, (_, j) => ({
        limit: { requestsPerUnit: i * 1_000 + j, unit: 1 },
      }))
      await ask({ domain: 'api', descriptors })
    }
    expect(await failure(withLimit('ann', 10_001, 1))).toEqual([
      status.RESOURCE_EXHAUSTED,
      expect.stringContaining('requests have brought 10,000 different limits'),
    ])
    expect(codes(await ask(withLimit('ann', 9_999, 1)))).toEqual(['OK', 'OK'])
  })
})

it('the status is that of the tightest level, with the unit in which its quota comes back', async () => {
  const { ask } = await startDoor([
    { name: 'wide', limit: day(1_000) },
    { name: 'bucket', key: 'user', limit: { algorithm: 'token-bucket', capacity: 60, refill: '60/m' } },
    { name: 'odd', key: 'odd', limit: { algorithm: 'token-bucket', capacity: 20, refill: '7/s' } },
    { name: 'places', key: 'places', limit: { algorithm: 'concurrency', max: 4, ttl: '1m' } },
    { name: 'shadow', key: 'user', shadow: true, limit: day(0) },
    { name: 'free', key: 'free', limit: { algorithm: 'unlimited' } },
  ])
  const limitOf = async (entries: Record<string, string>) => (await ask(requestOf(entries))).statuses[0].currentLimit
  expect(await limitOf({ user: 'ann' })).toEqual({ requestsPerUnit: 60, unit: 'MINUTE', name: 'bucket' })
  expect(await limitOf({ odd: 'x' })).toEqual({ requestsPerUnit: 20, name: 'odd' })
  expect(await limitOf({ places: 'x' })).toEqual({ requestsPerUnit: 4, name: 'places' })
  expect(await limitOf({ free: 'x' })).toEqual({ requestsPerUnit: 1_000, unit: 'DAY', name: 'wide' })
})

it('a descriptor of unlimited levels alone has the most that can be told', async () => {
  const { ask } = await startDoor([{ name: 'free', key: 'free', limit: { algorithm: 'unlimited' } }])
  expect((await ask(requestOf({ free: 'x' }))).statuses).toEqual([{ code: 'OK', limitRemaining: 4_294_967_295 }])
})

describe('header fields', () => {
  it.each([
    ['draft', ['RateLimit-Policy', 'RateLimit']],
    ['draft-6', ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy']],
    ['legacy', ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']],
    ['none', []],
  ])('of the form %s', async (form, names) => {
    const { ask } = await startDoor(USER, { 'envoy-headers': form })
    expect(Object.keys(fieldsOf(await ask(requestOf({ user: 'ann' }))))).toEqual(names)
    const denied = await ask({ ...requestOf({ user: 'ann' }), hitsAddend: 3 })
    expect(Object.keys(fieldsOf(denied))).toEqual([...names, 'Content-Type', 'Cache-Control', 'Retry-After'])
    expect(denied.rawBody?.length).toBeGreaterThan(0)
  })

  it('tell the levels of all descriptors', async () => {
    const { ask } = await startDoor([...USER, { name: 'tenant', key: 'tenant', limit: day(5) }])
    const { RateLimit: told } = fieldsOf(await ask(requestOf({ user: 'ann' }, { tenant: 'acme' })))
    expect(told).toMatch(/^"user";r=2;t=\d+, "tenant";r=4;t=\d+$/)
  })
})

it('a request without a domain or without descriptors is refused with the words of the original', async () => {
  const { failure, client } = await startDoor(USER)
  expect(await failure({ descriptors: [{}] })).toEqual([status.INVALID_ARGUMENT, 'rate limit domain must not be empty'])
  expect(await failure({ domain: 'api' })).toEqual([
    status.INVALID_ARGUMENT,
    'rate limit descriptor list must not be empty',
  ])
  expect((await client.failure(SHOULD_RATE_LIMIT, Buffer.from([0x0a, 9])))[0]).toBe(status.INVALID_ARGUMENT)
})

it('a wrong cost is INVALID_ARGUMENT, and takes nothing from other descriptors', async () => {
  const { ask, failure } = await startDoor([{ name: 'tokens', key: 'user', cost: 'tokens', limit: day(10) }])
  expect(await failure(requestOf({ user: 'ann', tokens: '2' }, { user: 'ann', tokens: 'many' }))).toEqual([
    status.INVALID_ARGUMENT,
    expect.stringContaining('the attribute tokens must be a whole number from 0'),
  ])
  expect(left(await ask(requestOf({ user: 'ann', tokens: '2' })))).toEqual([8])
})

it('metrics count the door, its connections and its decisions', async () => {
  const { ask, failure, service } = await startDoor(USER)
  for (let i = 0; i < 4; i++) await ask(requestOf({ user: 'ann' }))
  await ask(requestOf({ user: 'bob' }, { user: 'eve' }))
  await failure({ domain: 'api' })
  const text = await (await fetch(`${service.url}/metrics`)).text()
  expect(text).toContain('sluice_http_requests_total{door="envoy",status="2xx"} 5')
  expect(text).toContain('sluice_http_requests_total{door="envoy",status="4xx"} 1')
  expect(text).toMatch(/sluice_http_request_duration_seconds_count\{door="envoy"\} 6/)
  expect(text).toContain('sluice_grpc_connections 1')
  expect(text).toMatch(/sluice_level_decisions_total\{[^}]*level="user"[^}]*outcome="denied"[^}]*\} 1/)
})
