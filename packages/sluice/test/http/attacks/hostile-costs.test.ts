import { createPolicy, fixedWindow } from 'sluice'
import { describe, expect, it } from 'vitest'
import { type Failure, limitedServer, type Options, statusOf, waitingStore } from './limited-server.js'

const limit = fixedWindow({ quota: 5, window: '100d' })
const cost: Options['cost'] = ({ headers }) => Number(headers['x-cost'] ?? 1)

function answering() {
  const { store, open } = waitingStore()
  open()
  return store
}

const GUARDS: [where: string, options: () => Options][] = [
  ['in memory', () => ({ limit, cost })],
  ['in memory, held', () => ({ limit, cost, settle: ({ cost: units = 0 }) => units })],
  ['on a store that answers later', () => ({ limit, cost, store: answering(), name: 'later' })],
  ['in a policy', () => ({ policy: createPolicy({ levels: [{ name: 'all', limit }] }), cost })],
]

const WRONG = ['NaN', 'Infinity', '-Infinity', '-1', '1.5', '9007199254740992', '1e400', 'abc']

describe.each(GUARDS)('a cost that a client chooses, %s', (_where, options) => {
  it.each(WRONG)('%s is an error that says so, and takes nothing', async (text) => {
    const app = await limitedServer(options())
    const response = await fetch(app.origin, { headers: { 'x-cost': text } })
    expect(response.status).toBe(500)
    const { code, message } = (await response.json()) as Failure
    expect(code).toBe('SLUICE_INVALID_VALUE')
    expect(message).toBe(`cost must be a whole number from 0 to 9,007,199,254,740,991, got ${Number(text)}`)
    expect(response.headers.get('ratelimit')).toBeNull()
    expect(app.handled).toEqual([])
    expect(await statusOf(app, { 'x-cost': '5' })).toBe(200)
  })

  it('more than there will ever be is a denial, and takes nothing', async () => {
    const app = await limitedServer(options())
    expect(await statusOf(app, { 'x-cost': '9007199254740991' })).toBe(429)
    expect(await statusOf(app, { 'x-cost': '5' })).toBe(200)
  })
})

it('a policy that reads the cost from an attribute takes no other either', async () => {
  const policy = createPolicy({ levels: [{ name: 'tokens', cost: 'tokens', limit }] })
  const app = await limitedServer({ policy, attributes: ({ headers }) => ({ tokens: Number(headers['x-cost']) }) })
  for (const text of WRONG) expect(await statusOf(app, { 'x-cost': text }), text).toBe(500)
  expect(app.handled).toEqual([])
  expect([await statusOf(app, { 'x-cost': '5' }), await statusOf(app, { 'x-cost': '1' })]).toEqual([200, 429])
})

it.each([Number.NaN, Infinity, -1, 1.5, 2 ** 53, '1', null])(
  '%s as a fixed cost is an error at once',
  async (wrong) => {
    await expect(limitedServer({ limit, cost: wrong as never })).rejects.toThrow(
      'cost must be a whole number from 0 to 9,007,199,254,740,991, got ',
    )
  },
)
