import { AsyncLocalStorage } from 'node:async_hooks'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLimiter, fixedWindow, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'

setFlagsFromString('--expose-gc')
const gc: () => void = runInNewContext('gc')

const limits = [
  tokenBucket({ capacity: 1_000_000, refill: '1000/h' }),
  leakyBucket({ capacity: 1_000_000, drain: '1000/h' }),
  fixedWindow({ quota: 1_000_000, window: '1d' }),
  slidingWindow({ quota: 1_000_000, window: '1d' }),
  slidingLog({ quota: 1_000_000, window: '1d' }),
]

describe('the memory store', () => {
  it.each(limits)('allocates nothing but the decision of a $algorithm', (limit) => {
    const script = fileURLToPath(new URL('./allocations-a-call.mjs', import.meta.url))
    const output = execFileSync(process.execPath, [script, JSON.stringify(limit)], { encoding: 'utf8' })
    const objects: Record<string, number> = JSON.parse(output)
    expect(Object.keys(objects)).toEqual(['allowed', 'peeked', 'denied'])
    for (const each of Object.values(objects)) {
      expect(each).toBeGreaterThan(0.9)
      expect(each).toBeLessThan(1.05)
    }
  })

  it('holds no timer, for any number of keys and any length of windows', () => {
    const before = process.getActiveResourcesInfo()
    for (const limit of limits) {
      const limiter = createLimiter({ limit })
      for (let i = 0; i < 1_000; i++) limiter.tryAcquire(`key:${i}`)
      limiter.block('key', { duration: '30d' })
      limiter.reserve('key:1')
    }
    expect(process.getActiveResourcesInfo()).toEqual(before)
  })

  it("does not keep a request's AsyncLocalStorage alive", async () => {
    const storage = new AsyncLocalStorage<object>()
    const limiters = limits.map((limit) => createLimiter({ limit }))
    const context = inContext(storage, () => {
      for (const limiter of limiters) {
        limiter.tryAcquire('user')
        limiter.block('other', { duration: '1h' })
        limiter.reserve('user').settle(0)
      }
    })
    // A timer keeps its context alive. This shows that the test would notice a timer of the store.
    let timer: NodeJS.Timeout | undefined
    const kept = inContext(storage, () => {
      timer = setTimeout(() => {}, 1_000_000)
    })
    await collect()
    expect(context.deref()).toBeUndefined()
    expect(kept.deref()).toBeDefined()
    clearTimeout(timer)
    expect(limiters.every((limiter) => limiter.peek('user').quota > 0)).toBe(true)
  })
})

/** Runs a function in a context that nothing else refers to. */
function inContext(storage: AsyncLocalStorage<object>, run: () => void): WeakRef<object> {
  const context = { big: new Array(1_000).fill('request') }
  storage.run(context, run)
  return new WeakRef(context)
}

async function collect(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    gc()
  }
}
