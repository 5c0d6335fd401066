import { createPolicy, fixedWindow, tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { limitedServer, type Options, processWarnings, settled, statusOf, strayErrors } from './limited-server.js'

const limit = fixedWindow({ quota: 1, window: '1h' })
const policy = createPolicy({ levels: [{ name: 'user', key: ['user'], limit }] })

const boom = () => Promise.reject(new Error('boom'))
// biome-ignore lint/suspicious/noThenProperty: some libraries have promises of their own
const thenable = { then: (tell: (answer: unknown) => void) => tell(true) }

/** Functions that were written with `async`, which the compiler refuses and JavaScript does not. */
const PROMISED: [option: string, options: object][] = [
  ['skip', { limit, skip: async () => false }],
  ['skip', { limit, skip: async () => true }],
  ['skip', { limit, skip: boom }],
  ['skip', { limit, skip: () => thenable }],
  ['key', { limit, key: async () => 'a' }],
  ['key', { limit, key: boom }],
  ['cost', { limit, cost: async () => 1 }],
  ['cost', { limit, cost: boom }],
  ['attributes', { policy, attributes: async () => ({ user: 'a' }) }],
  ['attributes', { policy, attributes: boom }],
  ['attributes', { policy, attributes: () => thenable }],
]

describe('a function that returns a promise lets no request through', () => {
  it.each(PROMISED)('%s', async (option, options) => {
    const stray = strayErrors()
    const app = await limitedServer(options as Options)
    const response = await fetch(app.origin)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      code: 'SLUICE_INVALID_TYPE',
      message: `${option} must be a synchronous function, got one that returns a promise`,
    })
    await settled()
    expect([app.handled, stray]).toEqual([[], []])
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
