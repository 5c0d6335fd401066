import type { Duration } from 'sluice'
import { expect, it } from 'vitest'
import { createLimiter } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { until } from './faults-until.js'
import { limitsOver } from './fleet-limits.js'
import { ownServer } from './own-server.js'

const LASTS_MS = 2_000
const CALLERS = 64

const own = ownServer()

/** All keys with the milliseconds that they have left: −1 for one that stays for ever, −2 for one that has just gone. */
async function lifetimes(): Promise<ReadonlyMap<string, number>> {
  const keys: string[] = []
  let cursor = '0'
  do {
    const [next, found] = await own.redis.scan(cursor, 'COUNT', 1_000)
    keys.push(...found)
    cursor = next
  } while (cursor !== '0')
  const lives = await Promise.all(keys.map((key) => own.redis.pttl(key)))
  return new Map(keys.map((key, i) => [key, lives[i]]))
}

/** Does all that can be done to limits over such windows, at random, and looks at every key meanwhile. */
async function lookWhileBusy(prefix: string, windows: readonly Duration[], block: Duration) {
  const store = redisStore(own.client.client, { prefix, deadlineMs: 10_000 })
  const limiters = windows
    .flatMap((window) => [...limitsOver(window)])
    .map(([name, limit]) => createLimiter({ name, limit, store }))
  const endMs = performance.now() + LASTS_MS

  async function calls(caller: number): Promise<void> {
    for (let i = caller; performance.now() < endMs; i += CALLERS + 1) {
      const limiter = limiters[i % limiters.length]
      const key = `user:${i % 7}`
      const what = Math.random()
      if (what < 0.5) await limiter.tryAcquire(key, { cost: 1 + (i % 3) })
      else if (what < 0.6) await limiter.charge(key, { cost: 3 })
      else if (what < 0.7) await limiter.refund(key, { cost: 2 })
      else if (what < 0.8) await (await limiter.reserve(key, { cost: 2 })).settle(i % 4)
      else if (what < 0.9) await (await limiter.reserve(key)).cancel()
      else if (what < 0.95) await limiter.reset(key)
      else await limiter.block(key, { duration: block })
    }
  }

  const immortal = new Set<string>()
  const kinds = new Set<string>()
  let looks = 0
  async function look(): Promise<void> {
    for (; performance.now() < endMs; looks++) {
      for (const [key, life] of await lifetimes()) {
        if (life === -1) immortal.add(key)
        kinds.add(key.slice(prefix.length, prefix.length + 1))
      }
    }
  }

  await Promise.all([look(), ...Array.from({ length: CALLERS }, (_, caller) => calls(caller))])
  return { immortal: [...immortal], kinds: [...kinds].sort(), looks, degraded: store.stats().degraded }
}

it('no key is ever without a TTL, whatever is done to limits from 50 ms to 1,000 days', async () => {
  const { immortal, kinds, looks, degraded } = await lookWhileBusy('long:', ['50ms', '3s', '1h', '1000d'], '2m')
  expect(immortal).toEqual([])
  expect(kinds).toEqual(['c', 'f', 'g', 'l', 's', 't', 'u'])
  expect(looks).toBeGreaterThan(10)
  expect(degraded.error).toBe(0)
})

it('of limits over less than a second nothing is left soon after', async () => {
  await own.redis.flushall()
  const { immortal, kinds } = await lookWhileBusy('short:', ['20ms', '50ms', '200ms'], '100ms')
  expect(immortal).toEqual([])
  expect(kinds).toEqual(['c', 'f', 'g', 'l', 's', 't', 'u'])
  await until('every key has expired', async () => (await own.redis.dbsize()) === 0)
})
