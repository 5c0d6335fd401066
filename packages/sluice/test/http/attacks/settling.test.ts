import { once } from 'node:events'
import { connect } from 'node:net'
import { createPolicy, fixedWindow, leakyBucket, tokenBucket } from 'sluice'
import { type Outcome, parseRateLimit, setCost } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import {
  type LimitedServer,
  limitedServer,
  processWarnings,
  settled,
  statusOf,
  strayErrors,
  waitingStore,
} from './limited-server.js'

const limit = fixedWindow({ quota: 10, window: '100d' })

async function remaining({ origin }: LimitedServer): Promise<number | undefined> {
  const response = await fetch(origin)
  await response.text()
  return parseRateLimit(response.headers).quotas[0].remaining
}

function laterStore() {
  const { store, open } = waitingStore()
  open()
  return store
}

const STORES: [where: string, options: () => object][] = [
  ['in memory', () => ({ limit })],
  ['on a store that answers later', () => ({ limit, store: laterStore(), name: 'later' })],
  ['in a policy', () => ({ policy: createPolicy({ levels: [{ name: 'all', limit }] }) })],
]

describe.each(STORES)('settling, %s', (_where, options) => {
  it.each<[what: string, settle: () => unknown, why: string]>([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
      'boom',
    ],
    [
      'throws something that is not an error',
      () => {
        throw undefined
      },
      'undefined',
    ],
    ['gives NaN', () => Number.NaN, 'actual must be a whole number'],
    ['gives Infinity', () => Infinity, 'actual must be a whole number'],
    ['gives -1', () => -1, 'actual must be a whole number'],
    ['gives 1.5', () => 1.5, 'actual must be a whole number'],
    ['gives 2 ** 53', () => 2 ** 53, 'actual must be a whole number'],
    ['gives nothing', () => undefined, 'actual must be a'],
    ['gives a text', () => '3', 'actual must be a'],
  ])('a function that %s is a warning, and the units stay taken', async (_what, settle, why) => {
    const [stray, warnings] = [strayErrors(), processWarnings()]
    const app = await limitedServer({ ...options(), settle } as never)
    expect(await remaining(app)).toBe(9)
    await expect.poll(() => warnings).toHaveLength(1)
    expect(warnings[0][0]).toBe('SLUICE_SETTLE')
    expect(warnings[0][1]).toContain('a request could not be settled, and the units it took stay taken: ')
    expect(warnings[0][1]).toContain(why)
    expect(await remaining(app)).toBe(8)
    expect(stray).toEqual([])
  })

  it('a handler that throws is settled by its status, once', async () => {
    const stray = strayErrors()
    const outcomes: Outcome[] = []
    const settle = (outcome: Outcome) => {
      outcomes.push(outcome)
      return outcome.status >= 500 ? 0 : 1
    }
    let isBroken = true
    const app = await limitedServer({ ...options(), settle } as never, (request, response) => {
      if (!isBroken) return void response.end('ok')
      setCost(request, 7)
      throw new Error('boom')
    })
    expect([await statusOf(app), await statusOf(app)]).toEqual([500, 500])
    await expect.poll(() => outcomes).toHaveLength(2)
    expect(outcomes[0]).toMatchObject({ status: 500, completed: true, cost: 7 })
    isBroken = false
    await settled()
    expect(await remaining(app)).toBe(9)
    expect(outcomes.length).toBeLessThanOrEqual(3)
    expect(stray).toEqual([])
  })

  it('a denied request is not settled', async () => {
    const outcomes: Outcome[] = []
    const settle = (outcome: Outcome) => outcomes.push(outcome)
    const app = await limitedServer({ ...options(), cost: () => 11, settle } as never)
    expect([await statusOf(app), await statusOf(app)]).toEqual([429, 429])
    await settled()
    expect(outcomes).toEqual([])
  })
})

it('a store that fails when a request is settled is a warning', async () => {
  const [stray, warnings] = [strayErrors(), processWarnings()]
  const fail = () => Promise.reject(new Error('no store'))
  for (const cost of [0, 5]) {
    const store = { ...laterStore(), charge: fail, refund: fail }
    const app = await limitedServer({ limit, store, name: 'failing', cost: 1, settle: () => cost })
    expect(await statusOf(app)).toBe(200)
    await expect.poll(() => warnings).toHaveLength(1)
    expect(warnings.splice(0)).toEqual([['SLUICE_SETTLE', expect.stringContaining('no store')]])
  }
  expect(stray).toEqual([])
})

it('a handler cannot set an invalid cost', async () => {
  const app = await limitedServer({ limit, settle: ({ cost = 1 }) => cost }, (request, response) => {
    expect(() => setCost(request, Number.NaN)).toThrow('cost must be a whole number')
    expect(() => setCost(request, -1)).toThrow('cost must be a whole number')
    response.end()
  })
  expect(await statusOf(app)).toBe(200)
})

describe('a client that goes away while a store decides', () => {
  it.each([
    ['admitted', 1],
    ['denied', 0],
  ])('counts like any other request and does no harm, %s', async (_what, quota) => {
    const stray = strayErrors()
    const { store, open, asked } = waitingStore()
    const options = {
      limit: tokenBucket({ capacity: 5, refill: '1/h' }),
      store,
      name: 'gone',
      cost: () => (quota === 0 ? 6 : 1),
    }
    const app = await limitedServer(options)
    const socket = connect(app.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(asked).toBe(1)
    socket.resetAndDestroy()
    await once(socket, 'close')
    await settled()
    open()
    await settled()
    const response = await fetch(app.origin)
    expect(response.status).toBe(quota === 0 ? 429 : 200)
    if (quota > 0) expect(parseRateLimit(response.headers).quotas[0].remaining).toBe(3)
    expect(stray).toEqual([])
  })

  it.each([
    ['is to be settled', { limit: tokenBucket({ capacity: 5, refill: '1/h' }), settle: () => 1 }],
    ['waits in a queue', { limit: leakyBucket({ capacity: 5, drain: '1000/s' }) }],
  ])('does not reach the handler and gives its units back, if it %s', async (_what, options) => {
    const { store, open, asked } = waitingStore()
    const app = await limitedServer({ ...options, store, name: 'gone' })
    const socket = connect(app.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write('GET /gone HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await expect.poll(asked).toBe(1)
    socket.resetAndDestroy()
    await once(socket, 'close')
    await settled()
    open()
    await expect.poll(asked).toBe(2)
    const response = await fetch(`${app.origin}/there`)
    expect(parseRateLimit(response.headers).quotas[0].remaining).toBe(4)
    expect(app.handled).toEqual(['/there'])
  })
})
