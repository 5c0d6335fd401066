import { expect, it } from 'vitest'
import { createPolicy, fixedWindow } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const day = (quota: number) => fixedWindow({ quota, window: '1d' })

onBothStores((own) => {
  const METHODS = ['check', 'charge', 'reserve', 'refund', 'reset', 'peek', 'explain'] as const

  it.each(METHODS)(
    '%s is about a request as it was when it was called, even if there is something to wait for',
    async (method) => {
      const create = () =>
        createPolicy({ name: 'api', levels: [{ name: 'm', key: 'm', limit: day(5) }], store: own.store })
      const left = async (m: string) => (await create().peek({ m })).levels[0].decision.remaining
      await create().charge({ m: 'a' }, { cost: 2 })
      await create().charge({ m: 'b' }, { cost: 2 })
      // So that there is something to wait for.
      own.clock.advance(5_000)
      const request = { m: 'a' }
      const called = create()[method as 'check'](request)
      request.m = 'b'
      const told = await called
      const changed = { check: 2, charge: 2, reserve: 2, refund: 4, reset: 5, peek: 3, explain: 3 }[method]
      expect([await left('a'), await left('b')]).toEqual([changed, 3])
      if (method === 'explain') expect(told).toMatchObject([{ key: 'a' }])
    },
  )

  it('a reservation settles what was reserved, whatever has become of the request', async () => {
    const levels = [{ name: 'm', key: 'm', limit: day(1_000), cost: 'tokens' }] as const
    const policy = createPolicy({ name: 'api', levels, store: own.store })
    const request = { m: 'a', tokens: 500 }
    const left = async () => (await policy.peek({ m: 'a', tokens: 0 })).levels[0].decision.remaining
    const reserving = policy.reserve(request)
    request.tokens = 10
    const reservation = await reserving
    request.m = 'b'
    expect(await left()).toBe(500)
    // A number is the cost of the call: a level with a cost of its own would keep what it took.
    await expect(async () => reservation.settle(1)).rejects.toThrow('as in settle({ tokens: 10 })')
    expect(await left()).toBe(500)
  })

  it('to settle by one attribute leaves the others as they were, those that a request has from its class too', async () => {
    class Incoming {
      get m() {
        return 'a'
      }
      get tokens() {
        return 500
      }
      get bytes() {
        return 300
      }
    }
    const levels = [
      { name: 'tokens', key: 'm', limit: day(1_000), cost: 'tokens' },
      { name: 'bytes', key: 'm', limit: day(1_000), cost: 'bytes' },
    ] as const
    const policy = createPolicy({ name: 'api', levels, store: own.store })
    const request = new Incoming()
    await (await policy.reserve(request)).settle({ tokens: 380 })
    expect((await policy.peek(request)).levels.map(({ decision }) => decision.remaining)).toEqual([620, 700])
  })
})
