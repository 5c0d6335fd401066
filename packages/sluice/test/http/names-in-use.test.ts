/** Limits with one name on one store, but with other numbers: none of them may be lost. */
import { fastify } from 'fastify'
import { createPolicy, fixedWindow, memoryStore } from 'sluice'
import { rateLimit as fastifyLimit } from 'sluice/fastify'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { Guard } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import { warningsOf } from './adapters/warnings-of.js'

const q = (quota: number) => fixedWindow({ quota, window: '100d' })
const key = () => 'a'
const reader = { method: () => 'GET', url: () => '/', field: () => undefined }

describe('two limits with one name on one store', () => {
  it.each([
    ['limits', { limit: q(50) }, { limit: q(2) }],
    ['functions', { limit: () => q(50) }, { limit: () => q(2) }],
    ['limits of which one blocks', { limit: q(2) }, { limit: q(2), blockFor: '1m' }],
  ] as const)('both count a request that meets both, and a warning says so: %s', async (_what, wide, strict) => {
    const store = memoryStore()
    const outer = new Guard<object>({ ...wide, name: 'x', store, key }, reader)
    const inner = new Guard<object>({ ...strict, name: 'x', store, key }, reader)
    const allowed: unknown[] = []
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 4; i++) {
        const request = {}
        await outer.enter(request)
        allowed.push((await inner.enter(request))?.allowed)
      }
    })
    expect(allowed).toEqual([true, false, false, false])
    expect(warnings).toEqual([['SLUICE_NAME', expect.stringContaining("two limits named 'x'")]])
  })

  it('both count if they are policies', async () => {
    const store = memoryStore()
    const policy = (name: string, quota: number) =>
      createPolicy({ name: 'api', store, levels: [{ name, key: ['user'], limit: q(quota) }] })
    const attributes = () => ({ user: 'ann' })
    const guards = [policy('wide', 50), policy('strict', 2)].map(
      (each) => new Guard<object>({ policy: each, attributes }, reader),
    )
    const allowed: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const request = {}
      for (const guard of guards) allowed.push((await guard.enter(request))?.allowed)
    }
    expect(allowed).toEqual([true, true, true, true, true, false])
  })
})

describe('routes with one name', () => {
  const routed = (first: object, second: object, more: object = {}) =>
    fetchLimit({
      ...{ limit: q(100), name: 'all', store: memoryStore(), key, ...more },
      routes: {
        'POST /login': { name: 'x', limit: q(50), ...first },
        'POST /other': { name: 'x', ...second },
      } as never,
    })

  it('must have one limit', () => {
    expect(() => routed({}, { limit: q(2) })).toThrow(
      "routes['POST /login'] and routes['POST /other'] have one name, 'x', on one store, and different limits",
    )
    expect(() => routed({}, { limit: q(50), blockFor: '1m' })).toThrow('different limits')
  })

  it('must have that of the limit before all, on its store', () => {
    const store = memoryStore()
    expect(() => routed({ name: 'all', store }, { limit: q(2) }, { store })).toThrow(
      "the limit before all and routes['POST /login'] have one name, 'all'",
    )
  })

  it('may have different limits on different stores', () => {
    expect(routed({ store: memoryStore() }, { limit: q(2) })).toBeTypeOf('function')
  })

  it('share one count if their limits are the same', async () => {
    const limited = routed({ limit: q(2) }, { limit: q(2) })(() => new Response('ok'))
    const statuses: number[] = []
    for (const path of ['login', 'other', 'login'])
      statuses.push((await limited(new Request(`http://localhost/${path}`, { method: 'POST' }))).status)
    expect(statuses).toEqual([200, 200, 429])
  })
})

describe('routes of Fastify with one name', () => {
  const config = (quota: number) => ({ config: { rateLimit: { name: 'x', limit: q(quota) } } })

  it('must have one limit', async () => {
    const app = fastify()
    await app.register(fastifyLimit({ limit: q(100), name: 'all', store: memoryStore() }))
    app.get('/login', config(2), () => 'ok')
    app.get('/same', config(2), () => 'ok')
    expect(() => app.get('/other', config(50), () => 'ok')).toThrow(
      'config.rateLimit of GET /login and config.rateLimit of GET /other have one name',
    )
    await app.close()
  })
})
