import type { Redis } from 'ioredis'
import type { Store } from 'sluice'
import { type ManualClock, storeContract } from 'sluice/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { startInjected } from './injected-store.js'

/** What `injectedTime` lets keys live longer than they would. */
const LINGER_MS = 3_600_000

/**
 * Removes keys when they would have expired by the clock of the test: a state that is still needed is then missed. Redis
 * itself only knows how long they have to live from when they were written, which is when the clock of the test stood still.
 */
class Expiry {
  /** `written` tells one write of a key from another: two of them within a millisecond may end at the same time. */
  readonly #ends = new Map<string, { readonly written: string; readonly endMs: number }>()
  readonly #client: Redis
  readonly #clock: ManualClock
  readonly #prefix: string

  constructor(client: Redis, clock: ManualClock, prefix: string) {
    this.#client = client
    this.#clock = clock
    this.#prefix = prefix
  }

  /** A key lives from when Redis wrote it, which is not before the call was sent. The state may live longer by the call. */
  async note(sentMs: number): Promise<void> {
    const keys = await this.#client.keys(`${this.#prefix}*`)
    for (const key of keys) {
      const life = await this.#client.pexpiretime(key)
      const written = `${life} ${(await this.#client.getBuffer(key))?.toString('latin1')}`
      if (this.#ends.get(key)?.written === written) continue
      this.#ends.set(key, { written, endMs: this.#clock.now() + life - sentMs - LINGER_MS })
    }
  }

  async expire(): Promise<void> {
    for (const [key, { endMs }] of this.#ends) {
      if (endMs > this.#clock.now()) continue
      this.#ends.delete(key)
      await this.#client.del(key)
    }
  }
}

function expiring(store: Store, expiry: Expiry): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return async (...given: unknown[]) => {
        await expiry.expire()
        const sentMs = Date.now()
        const answer = await value.apply(target, given)
        await expiry.note(sentMs)
        return answer
      }
    },
  })
}

describe('the Lua twin with keys that expire by the clock of the test', () => {
  let injected: Awaited<ReturnType<typeof startInjected>>

  beforeAll(async () => {
    injected = await startInjected()
  })

  afterAll(() => injected?.stop())

  const create = (clock: ManualClock) => {
    const { store, prefix } = injected.createWithPrefix(clock)
    return expiring(store, new Expiry(injected.client, clock, prefix))
  }
  for (const { name, run } of storeContract(create, { traces: isLong ? 300 : 80 }).filter(({ name }) =>
    /random/.test(name),
  ))
    test(name, run, 120_000)
})
