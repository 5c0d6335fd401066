import express from 'express'
import { createLimiter, fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/express'
import { Guard } from 'sluice/http'
import { afterEach, describe, expect, it } from 'vitest'
import type { RunningApp } from './adapters/app.js'
import { serve } from './adapters/servers.js'
import { warningsOf } from './adapters/warnings-of.js'

const limit = fixedWindow({ quota: 2, window: '100d' })
const reader = { method: () => 'GET', url: () => '/', field: () => undefined }

describe('a request that meets a limiter twice', () => {
  let app: RunningApp | undefined
  afterEach(() => app?.close())

  it('counts once if a middleware is in front of the application and of a router in it', async () => {
    const limited = rateLimit({ limit })
    const router = express.Router()
    router.use(limited)
    router.get('/', (_request, response) => void response.send('ok'))
    app = await serve(express().use(limited).use('/inner', router))
    const { origin } = app
    const statuses: number[] = []
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 3; i++) statuses.push((await fetch(`${origin}/inner`)).status)
    })
    expect(statuses).toEqual([200, 200, 429])
    expect(warnings.map(([code]) => code)).toEqual(['SLUICE_TWICE'])
  })

  it('is denied again if it was denied, and is told to onDecision once', async () => {
    const decisions: boolean[] = []
    const limiter = createLimiter({ limit })
    const onDecision = ({ allowed }: { allowed: boolean }) => void decisions.push(allowed)
    const guard = new Guard<object>({ limiter, key: () => 'a', onDecision }, reader)
    await warningsOf(async () => {
      for (let i = 0; i < 2; i++) guard.enter({})
      const request = {}
      expect(await guard.enter(request)).toMatchObject({ allowed: false })
      expect(await guard.enter(request)).toMatchObject({ allowed: false })
    })
    expect(decisions).toEqual([true, true, false])
  })

  it('counts again under a key that has changed in between', async () => {
    const limiter = createLimiter({ limit })
    const guard = new Guard<{ user?: string }>({ limiter, key: ({ user }) => user ?? 'unknown' }, reader)
    const request: { user?: string } = {}
    await guard.enter(request)
    request.user = 'ann'
    const warnings = await warningsOf(async () => guard.enter(request))
    expect([limiter.peek('unknown').remaining, limiter.peek('ann').remaining]).toEqual([1, 1])
    expect(warnings).toEqual([])
  })

  it('counts several times if the adapter says so', async () => {
    const limiter = createLimiter({ limit })
    const guard = new Guard<object>({ limiter, key: () => 'a' }, reader)
    const request = {}
    for (let i = 0; i < 2; i++) await guard.enter(request, { mayRepeat: true })
    expect(limiter.peek('a').remaining).toBe(0)
  })
})
