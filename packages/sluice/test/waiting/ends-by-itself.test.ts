import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** Programs in which `wait` waits for an hour, by the real clock and timers. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'limiter.acquire': `
    import { createLimiter, tokenBucket } from 'sluice'
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/h' }) })
    limiter.tryAcquire('key')
    const wait = (signal) => limiter.acquire('key', { signal })
  `,
  'limiter.acquireLease': `
    import { concurrency, createLimiter } from 'sluice'
    const limiter = createLimiter({ limit: concurrency({ max: 1, ttl: '1h' }) })
    limiter.lease('key')
    const wait = (signal) => limiter.acquireLease('key', { signal })
  `,
  'shaper.run': `
    import { createShaper } from 'sluice'
    const shaper = createShaper({ drain: '1/h', capacity: 2 })
    await shaper.wait()
    const wait = (signal) => shaper.run(() => {}, { signal })
  `,
  'shaper.run on a store': `
    import { createShaper, memoryStore } from 'sluice'
    const shaper = createShaper({ name: 'shaper', drain: '1/h', capacity: 2, store: memoryStore() })
    await shaper.wait()
    const wait = (signal) => shaper.run(() => {}, { signal })
  `,
  shapedFetch: `
    import { shapedFetch } from 'sluice/http'
    const call = shapedFetch({ drain: '1/h', capacity: 2, fetch: async () => new Response() })
    await call('http://127.0.0.1')
    const wait = (signal) => call('http://127.0.0.1', { signal })
  `,
}

const LEAVE = `
  import { setImmediate as turn } from 'node:timers/promises'
  const controller = new AbortController()
  const waiting = wait(controller.signal).then(() => 'served', ({ name }) => name)
  await turn()
  controller.abort()
  console.log(await waiting)
`

// If a timer were left, the child would live for an hour, and the test would kill it.
it.each(Object.entries(PROGRAMS))('a process whose last waiter has left ends by itself: %s', async (_what, program) => {
  const args = ['--input-type=module', '--eval', program + LEAVE]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, timeout: 20_000 })
  expect(stdout).toBe('AbortError\n')
})
