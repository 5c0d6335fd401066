import { createPolicy, fixedWindow, tokenBucket } from 'sluice'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as honoLimit } from 'sluice/hono'
import { describe, expect, it } from 'vitest'
import { limitedServer, type Options, processWarnings, settled, statusOf, strayErrors } from './limited-server.js'

const limit = fixedWindow({ quota: 1, window: '100d' })
const policy = createPolicy({ levels: [{ name: 'user', key: ['user'], limit }] })

const boom = () => Promise.reject(new Error('boom'))
// biome-ignore lint/suspicious/noThenProperty: some libraries have promises of their own
const thenable = { then: (tell: (answer: unknown) => void) => tell(true) }

/** Promises that no request may pass on, and a part of the message of the error. */
const PROMISED: [option: string, options: object, message: string][] = [
  ['skip that rejects', { limit, skip: boom }, 'boom'],
  ['skip of a text', { limit, skip: async () => 'no' }, 'skip must be a function that returns true or false'],
  ['key that rejects', { limit, key: boom }, 'boom'],
  [
    'key of a number',
    { limit, name: 'api', key: async () => 7 },
    "what the function key of rateLimit returns, for the limit 'api', must be a text, or nothing for the client's address, got 7: write String(id)",
  ],
  ['cost that rejects', { limit, cost: boom }, 'boom'],
  ['cost of a text', { limit, cost: async () => '1' }, 'cost must be'],
  ['attributes that rejects', { policy, attributes: boom }, 'boom'],
  ['attributes without the attribute', { policy, attributes: async () => ({}) }, "the policy asks about 'user'"],
  ['limit that rejects', { limit: boom }, 'boom'],
  ['limit of nothing', { limit: async () => undefined }, 'limit must be a limit such as tokenBucket'],
  ['cost and key that reject', { limit, cost: boom, key: boom }, 'boom'],
]

it.each([
  ['fetch', fetchLimit({ limit, address: boom as never })(() => new Response('ok')), new Request('http://localhost/')],
  [
    'hono',
    honoLimit({ limit, address: boom as never }),
    { req: { header: () => undefined, raw: new Request('http://localhost/') } },
  ],
])('an address that is a promise is an error in %s: all clients would be one', async (_adapter, enter, request) => {
  const stray = strayErrors()
  await expect(async () => (enter as (...given: unknown[]) => unknown)(request, () => {})).rejects.toThrow(
    'address must be a synchronous function',
  )
  await settled()
  expect(stray).toEqual([])
})

describe('a promise that gives no answer lets no request through', () => {
  it.each(PROMISED)('%s', async (_option, options, message) => {
    const stray = strayErrors()
    const app = await limitedServer(options as Options)
    const response = await fetch(app.origin)
    expect(response.status).toBe(500)
    expect(((await response.json()) as { message: string }).message).toContain(message)
    await settled()
    expect([app.handled, stray]).toEqual([[], []])
  })

  it('everything with `then` is a promise', async () => {
    const app = await limitedServer({ limit, skip: (() => thenable) as never })
    for (let i = 0; i < 3; i++) expect(await statusOf(app)).toBe(200)
  })

  it.each([undefined, null, 0, 1, 'yes', {}])(
    'nor does one that answers %j to whether a request is skipped',
    async (answer) => {
      const app = await limitedServer({ limit, skip: () => answer as never })
      expect(await statusOf(app)).toBe(500)
      expect(app.handled).toEqual([])
    },
  )
})

it('a settle that returns a promise is a warning, and the units stay taken', async () => {
  const [stray, warnings] = [strayErrors(), processWarnings()]
  for (const settle of [async () => 0, boom]) {
    const app = await limitedServer({ limit: tokenBucket({ capacity: 1, refill: '1/h' }), settle: settle as never })
    expect(await statusOf(app)).toBe(200)
    await expect.poll(() => warnings).toHaveLength(1)
    const [[code, message]] = warnings.splice(0)
    expect(code).toBe('SLUICE_SETTLE')
    expect(message).toContain('settle must be a synchronous function, got one that returns a promise')
    expect(await statusOf(app)).toBe(429)
  }
  expect(stray).toEqual([])
})
