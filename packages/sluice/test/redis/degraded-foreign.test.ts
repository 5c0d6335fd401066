import { expect, it } from 'vitest'
import { createLimiter } from '../../src/index.js'
import { KeyLayout } from '../../src/stores/redis/key-layout.js'
import { limitsOver } from './fleet-limits.js'
import { ownServer } from './own-server.js'

const own = ownServer()

const layout = new KeyLayout('sluice:')

it.each([...limitsOver('1h')])(
  'a key that holds something else spoils its own call and no other (%s)',
  async (name, limit) => {
    const limiter = createLimiter({ name, limit, store: own.store })
    const keyOf = (key: string) => layout.of(name, limit, key)
    await own.redis.lpush(keyOf('list'), 'something')
    await own.redis.set(keyOf('text'), 'something else')
    const { foreign } = own.store.stats().degraded
    const keys = ['a', 'list', 'b', 'text', 'c']
    const decisions = await Promise.all(keys.map((key) => limiter.tryAcquire(key)))
    expect(decisions.map(({ degraded }) => degraded)).toEqual([undefined, 'closed', undefined, 'closed', undefined])
    expect(decisions[4]).toMatchObject({ allowed: true, remaining: 4 })
    await limiter.charge('list')
    await limiter.refund('text')
    expect(own.store.stats().degraded).toMatchObject({ foreign: foreign + 4, error: 0, deadline: 0 })
    expect(own.store.stats().breaker).toBe('closed')
    expect(await own.redis.type(keyOf('list'))).toBe('list')
  },
)

it.each([...limitsOver('1h')])(
  'a text as long as a state spoils its own call and no other, and never hangs the script (%s)',
  async (name, limit) => {
    const limiter = createLimiter({ name, limit, store: own.store })
    const digest = 'd41d8cdf8f00b204e9800998ecf8427e'.repeat(8)
    const texts = [16, 24, 32, 48, 64, 104, 112].flatMap((length) => [
      digest.slice(0, length),
      '\x7f'.repeat(length),
      'z'.repeat(length),
      Buffer.alloc(length, 0xff),
    ])
    for (const [i, text] of texts.entries()) await own.redis.set(layout.of(name, limit, `text ${i}`), text)
    const { foreign } = own.store.stats().degraded
    const calls = texts.flatMap((_, i) => [`text ${i}`, `own ${i}`])
    const decisions = await Promise.all(calls.map((key) => limiter.tryAcquire(key)))
    expect(decisions.map(({ degraded }) => degraded)).toEqual(texts.flatMap(() => ['closed', undefined]))
    expect(own.store.stats().degraded).toMatchObject({ foreign: foreign + texts.length, error: 0, deadline: 0 })
  },
)

it('a group with a key that holds something else takes from none', async () => {
  const demands = [...limitsOver('1h')].map(([name, limit]) => ({ name, limit, key: 'group', cost: 1 }))
  const spoiled = demands[5]
  await own.redis.lpush(layout.of(spoiled.name, spoiled.limit, spoiled.key), 'something')
  const { allowed, decisions } = await own.store.decide(demands)
  expect(allowed).toBe(false)
  expect(decisions.every(({ degraded }) => degraded === 'closed')).toBe(true)
  const others = await own.store.decide(
    demands.filter((demand) => demand !== spoiled).map((each) => ({ ...each, cost: 0 })),
  )
  expect(others.decisions.map(({ remaining }) => remaining)).toEqual(others.decisions.map(({ quota }) => quota))
})
