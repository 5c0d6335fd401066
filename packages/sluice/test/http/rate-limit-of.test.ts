import 'reflect-metadata'
import { createLimiter, createPolicy, fixedWindow } from 'sluice'
import * as express from 'sluice/express'
import * as fastify from 'sluice/fastify'
import * as fetching from 'sluice/fetch'
import * as hono from 'sluice/hono'
import { Guard, rateLimitOf } from 'sluice/http'
import * as koa from 'sluice/koa'
import * as nest from 'sluice/nest'
import * as node from 'sluice/node'
import { describe, expect, it } from 'vitest'

describe('rateLimitOf', () => {
  it('is exported by every adapter', () => {
    for (const adapter of [express, fastify, fetching, hono, koa, nest, node])
      expect(adapter.rateLimitOf).toBe(rateLimitOf)
  })

  it('is denied if any limit denied, with the longest wait', async () => {
    const reader = { method: () => 'GET', url: () => '/', field: () => undefined }
    const key = () => 'one'
    const guards = [1, 5].map((quota) => {
      const limiter = createLimiter({
        name: `of-${quota}`,
        limit: fixedWindow({ quota, window: '1h', align: 'first' }),
      })
      return new Guard<object>({ limiter, key }, reader)
    })
    const closed = new Guard<object>(
      {
        policy: createPolicy({
          levels: [{ name: 'a', limit: fixedWindow({ quota: 1, window: '1d', align: 'first' }) }],
        }),
      },
      reader,
    )
    for (const guard of [...guards, closed]) await guard.enter({})
    const request = {}
    for (const guard of [...guards, closed]) await guard.enter(request)
    const verdict = rateLimitOf(request)
    expect(verdict).toMatchObject({ allowed: false, deniedBy: ['of-1', 'a'], delayMs: 0 })
    expect(verdict?.levels.map(({ decision }) => decision.allowed)).toEqual([false, true, false])
    expect(verdict?.retryAfterMs).toBe(verdict?.levels[2].decision.retryAfterMs)
  })

  it('refuses what is not a request', () => {
    expect(() => rateLimitOf(undefined as never)).toThrow('request must be the request of a handler, got undefined')
  })
})
