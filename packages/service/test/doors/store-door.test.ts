import { type AsyncStore, memoryStore, StoreUnavailableError } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { Services } from '../clients/in-process.js'
import { ask, startTestService } from '../serve/test-service.js'

const BUCKET = { algorithm: 'token-bucket', capacity: 10, refill: '1/s' }
const DEMAND = { name: 'search', limit: 0, key: 'user:42', cost: 3 }
const services = new Services()

afterEach(() => services.stop())

const memory = () => memoryStore({ clock: new ManualClock(1_745_000_100_000) })

async function post(url: string, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${url}/v1/store`, { method: 'POST', body: text })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

it('carries out calls in their order, and answers each', async () => {
  const url = await services.start(memory())
  const { status, body } = await post(url, {
    limits: [BUCKET],
    calls: [
      { decide: [DEMAND] },
      { charge: DEMAND },
      { refund: { ...DEMAND, cost: 2 } },
      { peek: [{ ...DEMAND, cost: 8 }] },
      { set: { name: 'search', limit: 0, key: 'user:42', remaining: 1 } },
      { block: { name: 'search', key: 'user:42', durationUs: 60_000_000 } },
      { decide: [{ ...DEMAND, cost: 11 }] },
      { reset: { name: 'search', key: 'user:42', limits: [0] } },
      { decide: [{ ...DEMAND, cost: 11 }] },
      { decide: [] },
    ],
  })
  expect(status).toBe(200)
  expect(services.batches).toEqual([10])
  const decision = { quota: 10, retryAfterMs: 0, delayMs: 0 }
  expect(body.answers).toEqual([
    {
      allowed: true,
      decisions: [{ ...decision, allowed: true, remaining: 7, nextUnitAfterMs: 1_000, resetAfterMs: 3_000 }],
      takenUs: [1_745_000_100_000_000],
    },
    { decision: { ...decision, allowed: true, remaining: 4, nextUnitAfterMs: 1_000, resetAfterMs: 6_000 } },
    { decision: { ...decision, allowed: true, remaining: 6, nextUnitAfterMs: 1_000, resetAfterMs: 4_000 } },
    {
      allowed: false,
      decisions: [expect.objectContaining({ allowed: false, remaining: 6, retryAfterMs: 2_000, resetAfterMs: 4_000 })],
      takenUs: [expect.any(Number)],
    },
    { decision: { ...decision, allowed: true, remaining: 1, nextUnitAfterMs: 1_000, resetAfterMs: 9_000 } },
    {},
    {
      allowed: false,
      decisions: [expect.objectContaining({ allowed: false, remaining: 0, retryAfterMs: null, resetAfterMs: 60_000 })],
      takenUs: [expect.any(Number)],
    },
    {},
    {
      allowed: false,
      // A wait that never ends is null.
      decisions: [
        { ...decision, allowed: false, remaining: 10, retryAfterMs: null, nextUnitAfterMs: 0, resetAfterMs: 0 },
      ],
      takenUs: [expect.any(Number)],
    },
    { allowed: true, decisions: [], takenUs: [] },
  ])
})

it('keeps the names of clients apart from those of the service', async () => {
  const store = memory()
  const url = await services.start(store)
  await post(url, { limits: [BUCKET], calls: [{ charge: { ...DEMAND, name: 'default/all', cost: 10 } }] })
  const limit = { algorithm: 'token-bucket', capacity: 10, refill: '1/s' } as const
  const remaining = (name: string) =>
    store.decide([{ name, limit, key: 'user:42', cost: 0 }]).decisions.map((decision) => decision.remaining)
  expect(remaining('default/all')).toEqual([10])
  expect(remaining('#client/default/all')).toEqual([0])
})

it('keeps them apart from a policy that is called client', async () => {
  const service = await startTestService([{ name: 'search', key: ['user'], limit: BUCKET }], {}, 'client')
  try {
    const attributes = { user: 'user:42' }
    expect((await ask(service.url, '/v1/check', { attributes, cost: 10 })).body).toMatchObject({ allowed: true })
    const calls = [{ reset: { name: 'search', key: 'user:42', limits: [0] } }]
    expect((await post(service.url, { limits: [BUCKET], calls })).status).toBe(200)
    expect((await ask(service.url, '/v1/check', { attributes, cost: 10 })).body).toMatchObject({ allowed: false })
  } finally {
    await service.close()
  }
})

describe('a request that is not valid', () => {
  const demand = (change: object) => ({ limits: [BUCKET], calls: [{ decide: [{ ...DEMAND, ...change }] }] })
  const call = (change: object) => ({ limits: [BUCKET], calls: [change] })
  const taken = (change: object) => call({ refund: DEMAND, taken: { atUs: 1, cost: 1, delayMs: 0, ...change } })
  it.each([
    ['{', 'the body must be JSON'],
    ['[]', 'the body must be a JSON object'],
    [{}, 'calls must be a list of at most 1000 calls, got undefined'],
    [{ calls: {} }, 'calls must be a list'],
    [{ calls: Array(1_001).fill({ decide: [] }) }, 'calls must be a list of at most 1000 calls'],
    [{ calls: [], limit: [] }, `there is no member "limit"; a request has limits, calls`],
    [{ limits: {}, calls: [] }, 'limits must be a list'],
    [{ limits: [1], calls: [] }, 'limits[0]: limit must be a limit such as'],
    [{ limits: [{ ...BUCKET, capacity: -1 }], calls: [] }, 'limits[0]: capacity must be a whole number from 0'],
    [
      { limits: [BUCKET, { ...BUCKET, algorithm: 'bucket' }], calls: [] },
      "limits[1]: limit.algorithm 'bucket' is unknown",
    ],
    [call([]), 'calls[0]: a call must be an object'],
    [call({}), 'calls[0]: a call must be a decide, peek, charge, refund, set, reset or block, got an object'],
    [call({ decide: [], charge: DEMAND }), `calls[0]: there is no member "charge"; a decide has decide`],
    [call({ decide: DEMAND }), 'calls[0]: decide must be a list of demands'],
    [call({ peek: DEMAND }), 'calls[0]: peek must be a list of demands'],
    [call({ set: DEMAND }), 'calls[0]: there is no member "cost"; set has name, limit, key, remaining'],
    [
      { limits: [BUCKET], calls: [{ set: { name: 'a', limit: 0, key: 'b', remaining: 11 } }] },
      'calls[0]: remaining must be a whole number from 0 to 10, the quota, got 11',
    ],
    [call({ charge: 1 }), 'calls[0]: a demand must be an object such as {"name"'],
    [demand({ name: '' }), 'name must be a text that is not empty, got ""'],
    [demand({ key: 42 }), 'key must be a text that is not empty, got 42'],
    [demand({ cost: -1 }), 'cost must be a whole number from 0'],
    [demand({ cost: 1.5 }), 'cost must be a whole number'],
    [demand({ limit: 1 }), 'limit must be a place in limits, from 0 to 0, got 1'],
    [demand({ limit: 'length' }), 'limit must be a place in limits'],
    [demand({ onFailure: 'maybe' }), 'onFailure must be open, closed or local, got "maybe"'],
    [demand({ shadow: 1 }), 'shadow must be true or false, got 1'],
    [demand({ costs: 1 }), `there is no member "costs"; a demand has name, limit, key, cost, onFailure, shadow`],
    [taken({ atUs: -1 }), 'taken.atUs must be a number from 0'],
    [taken({ atUs: 1e308 }), 'taken.atUs must be a number from 0 to 9007199254740991'],
    [taken({ delayMs: 1e308 }), 'taken.delayMs must be a number from 0 to 9007199254740991'],
    [taken({ cost: '1' }), 'taken.cost must be a whole number'],
    [taken({ delayMs: null }), 'taken.delayMs must be a number from 0 to 9007199254740991, got null'],
    [taken({ degraded: 'x' }), 'taken.degraded must be open, closed or local'],
    [taken({ at: 1 }), `there is no member "at"; taken has`],
    [call({ reset: { name: 'search' } }), 'key must be a text that is not empty, got undefined'],
    [call({ reset: { name: 'search', key: 'k', limits: [1] } }), 'limit must be a place in limits'],
    [call({ block: { name: 'search', key: 'k' } }), 'durationUs must be a whole number from 1'],
    [call({ block: { name: 'search', key: 'k', durationUs: 1e18 } }), 'durationUs must be a whole number from 1'],
    [
      { limits: [BUCKET], calls: Array(2).fill({ decide: Array(5_001).fill(DEMAND) }) },
      'calls[1]: a request must have at most 10000 demands',
    ],
  ])('%# is answered with what would be right, and nothing changes', async (body, detail) => {
    const store = memory()
    const url = await services.start(store)
    const answer = await post(url, body)
    expect(answer.status).toBe(400)
    expect(answer.body.detail).toContain(detail)
    expect(store.stats().keys).toBe(0)
  })

  it('that is nested very deep is answered too, wherever it is', async () => {
    const url = await services.start(memory())
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const limits = JSON.stringify([BUCKET])
    const bodies = [
      `{"calls":[${deep}]}`,
      `{"calls":{"a":${deep}}}`,
      `{"calls":[],"limits":[${deep}]}`,
      `{"calls":[],"limits":[{"algorithm":"token-bucket","capacity":${deep},"refill":"1/s"}]}`,
      `{"calls":[],"limits":[{"algorithm":${deep}}]}`,
      `{"calls":[{"decide":${deep}}],"limits":${limits}}`,
      `{"calls":[{"reset":{"name":"a","key":${deep}}}],"limits":${limits}}`,
      `{"calls":[{"block":{"name":"a","key":"b","limits":[${deep}]}}],"limits":${limits}}`,
      `{"calls":[{"decide":[{"name":"a","limit":0,"key":"b","cost":${deep}}]}],"limits":${limits}}`,
    ]
    for (const body of bodies) expect((await post(url, body)).status, body.slice(0, 60)).toBe(400)
    expect(services.faults).toEqual([])
  })

  it('that is too large is not read', async () => {
    const url = await services.start(memory())
    const { status, body } = await post(url, { calls: [], limits: ['x'.repeat(4 * 1024 * 1024)] })
    expect([status, body.detail]).toEqual([413, 'the body must have at most 4,194,304 bytes'])
  })
})

it('a store that fails for one call answers the others', async () => {
  const inner = memory()
  const store: AsyncStore = {
    decide: async (demands) => inner.decide(demands),
    peek: async (demands) => inner.peek(demands),
    charge: async (demand) => inner.charge(demand),
    set: async (limited, remaining) => inner.set(limited, remaining),
    refund: async (demand, taken) => inner.refund(demand, taken),
    reset: async () => {
      throw new StoreUnavailableError('Redis did not answer (deadline)')
    },
    block: async () => {
      throw new StoreUnavailableError('Redis did not answer (deadline)')
    },
  }
  const url = await services.start(store)
  const { body } = await post(url, {
    limits: [BUCKET],
    calls: [{ decide: [DEMAND] }, { reset: { name: 'search', key: 'user:42' } }, { decide: [DEMAND] }],
  })
  expect(body.answers).toEqual([
    expect.objectContaining({ allowed: true }),
    { problem: expect.objectContaining({ status: 503, detail: 'Redis did not answer (deadline)' }) },
    expect.objectContaining({ allowed: true, decisions: [expect.objectContaining({ remaining: 4 })] }),
  ])
})

it('a fault of the service is reported, and the client is told no details', async () => {
  const inner = memory()
  const store = Object.assign(Object.create(inner), {
    decide() {
      throw new Error('secret')
    },
  }) as typeof inner
  const url = await services.start(store)
  const { status, body } = await post(url, { limits: [BUCKET], calls: [{ decide: [DEMAND] }] })
  expect(status).toBe(500)
  expect(JSON.stringify(body)).not.toContain('secret')
  expect(services.faults.splice(0)).toEqual([new Error('secret')])
})

it('clients that use more than 10,000 names are refused more, and keep those that they have', async () => {
  const url = await services.start(memory())
  const named = (from: number, count: number) => ({
    limits: [BUCKET],
    calls: Array.from({ length: count }, (_, i) => ({ decide: [{ ...DEMAND, name: `name ${from + i}` }] })),
  })
  for (let from = 0; from < 10_000; from += 1_000) await post(url, named(from, 1_000))
  const { body } = await post(url, named(9_999, 2))
  expect(body.answers).toEqual([
    expect.objectContaining({ allowed: true, decisions: [expect.objectContaining({ remaining: 4 })] }),
    { problem: expect.objectContaining({ status: 503, detail: expect.stringContaining('into the key') }) },
  ])
})

it('blocks by the rule of a demand, and refuses a rule that is none', async () => {
  const url = await services.start(memory())
  const rule = { firstUs: 60_000_000, factor: 1, mostUs: 60_000_000, forgetUs: 0 }
  const decide = (blockFor: unknown) =>
    post(url, { limits: [BUCKET], calls: [{ decide: [{ ...DEMAND, cost: 8, blockFor }] }] })
  await decide(rule)
  const denied = await decide(rule)
  expect(denied.body).toMatchObject({
    answers: [{ allowed: false, decisions: [{ remaining: 0, retryAfterMs: 60_000 }] }],
  })
  for (const [wrong, detail] of [
    ['15m', 'calls[0]: blockFor must be an object such as {"firstUs":'],
    [{ ...rule, first: 1 }, 'calls[0]: there is no member "first"; blockFor has firstUs, factor, mostUs, forgetUs'],
    [{ ...rule, factor: 0 }, 'calls[0]: blockFor of a demand must be { firstUs, factor, mostUs, forgetUs }'],
  ] as const) {
    const { status, body } = await decide(wrong)
    expect([status, String(body.detail)]).toEqual([400, expect.stringContaining(detail)])
  }
})
