import { expect, it } from 'vitest'
import { startDoor } from './door-service.js'

const levels = [{ name: 'user', key: 'user', limit: { algorithm: 'fixed-window', quota: 2, window: '1d' } }]

async function post(url: string, body: unknown) {
  const response = await fetch(`${url}/json`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return [response.status, (await response.json()) as Record<string, unknown>] as const
}

it('POST /json decides as the gRPC door does, in the JSON of proto3', async () => {
  const { service } = await startDoor(levels)
  const request = { domain: 'api', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }], hits_addend: '2' }
  expect(await post(service.url, request)).toEqual([
    200,
    {
      overallCode: 'OK',
      statuses: [
        {
          code: 'OK',
          currentLimit: { requestsPerUnit: 2, unit: 'DAY', name: 'user' },
          durationUntilReset: expect.stringMatching(/^\d+(\.\d+)?s$/),
        },
      ],
      responseHeadersToAdd: expect.any(Array),
    },
  ])
  const [status, denied] = await post(service.url, request)
  expect([status, denied.overallCode, denied.dynamicMetadata]).toEqual([429, 'OVER_LIMIT', { deniedBy: ['user'] }])
  expect(JSON.parse(Buffer.from(String(denied.rawBody), 'base64').toString())).toMatchObject({ status: 429 })
})

it('it takes every field in both spellings, and leaves defaults out', async () => {
  const { service } = await startDoor(levels)
  const descriptor = {
    entries: [{ key: 'user', value: 'bob' }],
    limit: { requests_per_unit: 9, unit: 'HOUR' },
    hitsAddend: 4,
    is_negative_hits: null,
  }
  const [, first] = await post(service.url, { domain: 'api', descriptors: [descriptor] })
  expect(first.statuses).toMatchObject([{ currentLimit: { requestsPerUnit: 9, unit: 'HOUR' }, limitRemaining: 5 }])
  const refund = {
    ...descriptor,
    limit: { requestsPerUnit: '9', unit: 3 },
    isNegativeHits: true,
    is_negative_hits: undefined,
  }
  const [, second] = await post(service.url, { domain: 'api', descriptors: [refund] })
  expect(second.statuses).toMatchObject([{ code: 'OK', limitRemaining: 9 }])
  const [, third] = await post(service.url, { domain: 'api', descriptors: [{}] })
  expect(third).toEqual({ overallCode: 'OK', statuses: [{ code: 'OK' }] })
})

it.each([
  ['{', 'the body must be JSON'],
  [[], 'the body must be a JSON object'],
  [{ domian: 'api' }, 'the request has no field "domian"; it has domain, descriptors, hitsAddend'],
  [{ domain: 3 }, 'domain of the request must be a text, got 3'],
  [{ domain: 'api', descriptors: {} }, 'descriptors of the request must be a list'],
  [{ domain: 'api', descriptors: [3] }, 'descriptors[0] must be an object with entries'],
  [
    { domain: 'api', descriptors: [{ entries: [{ key: 'a', vale: 'b' }] }] },
    'descriptors[0].entries[0] has no field "vale"',
  ],
  [{ domain: 'api', descriptors: [{ limit: { unit: 'FORTNIGHT' } }] }, 'descriptors[0].limit.unit must be one of'],
  [{ domain: 'api', descriptors: [{ limit: { requestsPerUnit: -1 } }] }, 'must be a whole number from 0 to 4294967295'],
  [
    { domain: 'api', descriptors: [{ isNegativeHits: 'yes' }] },
    'isNegativeHits of descriptors[0] must be true or false',
  ],
  [{ domain: 'api', hitsAddend: 1.5 }, 'hitsAddend of the request must be a whole number'],
  [{ descriptors: [{}] }, 'rate limit domain must not be empty'],
  [{ domain: 'api' }, 'rate limit descriptor list must not be empty'],
])('%j is refused', async (body, detail) => {
  const { service } = await startDoor(levels)
  expect(await post(service.url, body)).toEqual([
    400,
    expect.objectContaining({ detail: expect.stringContaining(detail) }),
  ])
})

it('a request that cannot be decided is answered 500', async () => {
  const { service } = await startDoor(levels)
  const withLimits = (from: number) => ({
    domain: 'api',
    descriptors: Array.from({ length: 1_000 }, (_, i) => ({ limit: { unit: 'DAY', requestsPerUnit: from + i } })),
  })
  for (let from = 1; from < 10_000; from += 1_000) expect((await post(service.url, withLimits(from)))[0]).toBe(200)
  const [status, problem] = await post(service.url, withLimits(10_001))
  expect([status, problem.detail]).toEqual([500, expect.stringContaining('10,000 different limits')])
})

it('GET /healthcheck says whether the service decides', async () => {
  const { service } = await startDoor(levels)
  const ask = async () => {
    const response = await fetch(`${service.url}/healthcheck`)
    return [response.status, await response.text()]
  }
  expect(await ask()).toEqual([200, 'OK'])
  service.service.beginClosing()
  expect(await ask()).toEqual([500, 'not ready'])
})
