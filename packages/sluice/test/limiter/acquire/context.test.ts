import { AsyncLocalStorage } from 'node:async_hooks'
import { createLimiter, memoryStore, type SyncStore, tokenBucket } from 'sluice'
import { expect, it } from 'vitest'

it('a waiter goes on in its own async context, and never in that of another', async () => {
  const context = new AsyncLocalStorage<string>()
  const inner = memoryStore()
  const asked: (string | undefined)[] = []
  const store: SyncStore = {
    synchronous: true,
    clock: inner.clock,
    decide(demands) {
      asked.push(context.getStore())
      return inner.decide(demands)
    },
    decideOne: (...given) => inner.decideOne(...given),
    peekOne: (...given) => inner.peekOne(...given),
    peek: (demands) => inner.peek(demands),
    charge: (demand) => inner.charge(demand),
    set: (limited, remaining) => inner.set(limited, remaining),
    refund: (demand, taken) => inner.refund(demand, taken),
    reset: (name, key) => inner.reset(name, key),
    block: (name, key, durationUs) => inner.block(name, key, durationUs),
  }
  const limiter = createLimiter({ name: 'context', limit: tokenBucket({ capacity: 1, refill: '10/s' }), store })
  limiter.tryAcquire('key')
  const wait = (name: string) =>
    context.run(name, async () => {
      await limiter.acquire('key')
      return context.getStore()
    })
  expect(await Promise.all([wait('a'), wait('b'), wait('c')])).toEqual(['a', 'b', 'c'])
  // The store was asked for the first waiter at once. What the alarm does, it does in no caller's context.
  expect(asked[0]).toBe('a')
  expect(new Set(asked.slice(1))).toEqual(new Set([undefined]))
})
