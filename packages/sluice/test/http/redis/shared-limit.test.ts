import express from 'express'
import { concurrency, createPolicy, fixedWindow, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningApp } from '../adapters/app.js'
import { serve } from '../adapters/servers.js'
import { startRedisStores } from './redis-stores.js'

describe('two servers on one Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedisStores>>
  beforeAll(async () => {
    redis = await startRedisStores()
  })
  afterAll(() => redis?.stop())

  const store = () => redis.store()

  const statuses = async (apps: readonly RunningApp[], count: number) => {
    const all = Array.from({ length: count }, (_, i) => fetch(`${apps[i % apps.length].origin}/`))
    return (await Promise.all(all)).map(({ status }) => status)
  }

  it('share a limit: of thirty requests to both, exactly ten pass', async () => {
    const start = async () => {
      const app = express()
      app.use(rateLimit({ name: 'shared', limit: fixedWindow({ quota: 10, window: '1d' }), store: await store() }))
      app.get('/', (_request, response) => void response.send('ok'))
      return serve(app)
    }
    const apps = [await start(), await start()]
    const answers = await statuses(apps, 30)
    expect(answers.filter((status) => status === 200)).toHaveLength(10)
    await Promise.all(apps.map((app) => app.close()))
  })

  it('share a policy', async () => {
    const start = async () => {
      const levels = [{ name: 'ip', key: 'ip', limit: tokenBucket({ capacity: 4, refill: '1/h' }) }] as const
      const app = express()
      app.use(rateLimit({ policy: createPolicy({ name: 'api', levels, store: await store() }) }))
      app.get('/', (_request, response) => void response.send('ok'))
      return serve(app)
    }
    const apps = [await start(), await start()]
    expect((await statuses(apps, 12)).filter((status) => status === 200)).toHaveLength(4)
    await Promise.all(apps.map((app) => app.close()))
  })

  it('give places back that an override has made, also the first time that they hear of it', async () => {
    const levels = [
      { name: 'merchant', key: ['merchant'], limit: tokenBucket({ capacity: 100, refill: '100/s' }) },
    ] as const
    const policyOf = async () => createPolicy({ name: 'overridden', levels, store: await store() })
    const policy = await policyOf()
    await policy.override('merchant', 'big', concurrency({ max: 2, ttl: '1h' }))
    const app = express()
    app.use(rateLimit({ policy: await policyOf(), attributes: () => ({ merchant: 'big' }) }))
    app.get('/', (_request, response) => void response.send('ok'))
    const running = await serve(app)
    try {
      for (let i = 0; i < 6; i++) expect(await statuses([running], 1)).toEqual([200])
      await expect.poll(async () => (await policy.peek({ merchant: 'big' })).levels[0].decision.remaining).toBe(2)
    } finally {
      await running.close()
    }
  })
})
