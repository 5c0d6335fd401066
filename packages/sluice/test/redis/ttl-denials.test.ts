import { expect, it } from 'vitest'
import { createLimiter } from '../../src/index.js'
import { timesAsked } from './faults-clients.js'
import { limitsOver, QUOTA } from './fleet-limits.js'
import { ownServer } from './own-server.js'

const own = ownServer()

const writes = () => timesAsked(own.server.port, 'set', 'del', 'setrange', 'append', 'expire', 'pexpire', 'pexpireat')

it.each([...limitsOver('1h')])('a denial writes nothing (%s)', async (name, limit) => {
  const limiter = createLimiter({ name, limit, store: own.store })
  expect((await limiter.tryAcquire('denied', { cost: QUOTA })).allowed).toBe(true)
  await limiter.block('blocked', { duration: '1h' })
  const before = await writes()
  const denied = await Promise.all([
    ...Array.from({ length: 20 }, (_, i) => limiter.tryAcquire('denied', { cost: 1 + i })),
    ...Array.from({ length: 20 }, (_, i) => limiter.tryAcquire('blocked', { cost: 1 + i })),
  ])
  expect(denied.filter(({ allowed, degraded }) => allowed || degraded !== undefined)).toEqual([])
  await limiter.peek('denied')
  await limiter.peek('fresh')
  expect(await writes()).toBe(before)
})

it('a group that one limit denies writes to none', async () => {
  const demands = [...limitsOver('1h')].map(([name, limit]) => ({ name, limit, key: 'group', cost: 1 }))
  await own.store.charge({ ...demands[3], cost: QUOTA })
  const before = await writes()
  const { allowed, decisions } = await own.store.decide(demands)
  expect(allowed).toBe(false)
  expect(decisions.map((decision) => decision.allowed)).toEqual(demands.map((_, i) => i !== 3))
  expect(await writes()).toBe(before)
})
