import { createPolicy, fixedWindow } from 'sluice'
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../../limits/refusals.js'

const limit = fixedWindow({ quota: 100, window: '1h' })
const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']

/** An object with an own property of this name, as JSON.parse makes it. */
const own = (name: string, value: unknown) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`)

describe.each(ODD_NAMES)('the attribute %s', (name) => {
  const policy = () =>
    createPolicy({
      levels: [
        { name: 'key', key: [name], limit },
        { name: 'equal', when: own(name, 'x'), limit },
        { name: 'absent', when: own(name, null), limit },
      ],
    })
  const names = (request: object) =>
    policy()
      .check(request as never)
      .levels.map((level) => level.name)

  it('is absent if the request only inherits it from Object', () => {
    for (const request of [{}, Object.create(null), new (class Request {})(), JSON.parse('{}')]) {
      expect(names(request)).toEqual(['absent'])
    }
  })

  it('is an attribute like any other if the request has it', () => {
    expect(names(own(name, 'x'))).toEqual(['key', 'equal'])
    expect(names(own(name, 'y'))).toEqual(['key'])
    expect(names(own(name, null))).toEqual(['absent'])
  })

  it('is a value like any other, also as the key of an override', () => {
    const users = createPolicy({
      levels: [
        {
          name: 'user',
          key: 'user',
          limit,
          overrides: [{ when: { user: name }, limit: fixedWindow({ quota: 7, window: '1h' }) }],
        },
      ],
    })
    expect(users.check({ user: name }).levels[0].decision).toMatchObject({ quota: 7, remaining: 6 })
    expect(users.check({ user: 'other' }).levels[0].decision.remaining).toBe(99)
    users.override('user', name, fixedWindow({ quota: 9, window: '1h' }))
    expect(users.check({ user: name }).levels[0].decision.quota).toBe(9)
    expect(({} as Record<string, unknown>).limits).toBeUndefined()
  })
})

describe('requests', () => {
  it('a request may inherit attributes or have getters, as requests of web frameworks do', () => {
    const prototype = {
      get path() {
        return `/${(this as { at?: string }).at}`
      },
      get ip() {
        return '192.0.2.1'
      },
    }
    const request = Object.assign(Object.create(prototype), { method: 'GET', at: 'v1//charges?x' })
    const policy = createPolicy({
      levels: [{ name: 'level', when: { path: '/v1/charges', ip: '192.0.2.0/24', method: 'get' }, key: 'ip', limit }],
    })
    expect(policy.check(request).levels).toHaveLength(1)
  })

  it('a request may have other attributes of any type', () => {
    const policy = createPolicy({ levels: [{ name: 'level', key: 'user', limit }] })
    const trap = {
      get body(): never {
        throw new Error('this getter must not be called')
      },
    }
    expect(policy.check(Object.assign(trap, { user: 'a', headers: {}, socket: Symbol('x') })).allowed).toBe(true)
  })

  it('a request with an attribute of another type is refused and takes nothing', () => {
    const policy = createPolicy({
      levels: [
        { name: 'all', limit },
        { name: 'user', key: 'user', limit },
        { name: 'plan', when: { plan: 'gold' }, limit },
      ],
    })
    const wrong = [
      {},
      [],
      ['a'],
      () => 'a',
      Symbol('a'),
      5n,
      Number.NaN,
      Infinity,
      -Infinity,
      new Date(0),
      new String('a'),
    ]
    for (const value of wrong) {
      for (const request of [
        { user: value, plan: 'gold' },
        { user: 'a', plan: value },
      ]) {
        const name = Object.is(request.user, value) ? 'user' : 'plan'
        for (const method of ['check', 'peek', 'charge', 'refund', 'reserve', 'reset', 'explain'] as const) {
          expectRefusal(
            () => policy[method as 'check'](request as never),
            `the attribute ${name} must be text, a finite number`,
          )
        }
      }
    }
    expect(policy.peek({ user: 'a', plan: 'gold' }).levels.map(({ decision }) => decision.remaining)).toEqual([
      100, 100, 100,
    ])
  })

  it('a request that is not an object is refused', () => {
    const policy = createPolicy({ levels: [{ name: 'level', key: 'user', limit }] })
    for (const request of [undefined, null, 'user', 5, true, ['user'], () => ({ user: 'a' })]) {
      expectRefusal(() => policy.check(request as never), /^request must be an object of attributes such as \{ user \}/)
    }
    const forAll = createPolicy({ levels: [{ name: 'level', limit }] })
    expectRefusal(() => forAll.check(undefined as never), /^request must be an object, such as \{\}, got undefined$/)
  })

  it('a request with a getter that calls the same policy is refused, and the two requests are not mixed up', () => {
    const policy = createPolicy({ levels: [{ name: 'level', key: ['a', 'b'], limit }] })
    const request = {
      a: 'outer',
      get b() {
        policy.check({ a: 'inner', b: 'x' })
        return 'y'
      },
    }
    for (const method of ['check', 'peek', 'charge', 'refund'] as const) {
      expectRefusal(
        () => policy[method](request),
        /^request must be an object whose getters do not call the same policy/,
      )
    }
    const left = (a: string, b: string) => policy.peek({ a, b }).levels[0].decision.remaining
    expect([left('outer', 'y'), left('inner', 'y'), left('outer', 'x')]).toEqual([100, 100, 100])
    // The request of the getter itself counts.
    expect(left('inner', 'x')).toBeLessThan(100)
    // These copy the request before they match it, so the two requests cannot be mixed up.
    expect(policy.explain(request)).toMatchObject([{ key: 'outer|y' }])
    expect(policy.reserve(request).verdict.allowed).toBe(true)
    expect(left('outer', 'y')).toBe(99)
    policy.reset(request)
    expect(left('outer', 'y')).toBe(100)
  })

  it('a request that no level matches is allowed and takes nothing', () => {
    const policy = createPolicy({ levels: [{ name: 'level', key: 'user', limit }] })
    expect(policy.check({ user: undefined })).toEqual({
      allowed: true,
      deniedBy: [],
      levels: [],
      retryAfterMs: 0,
      delayMs: 0,
    })
  })

  it('a request may have texts of any length', () => {
    const policy = createPolicy({ levels: [{ name: 'level', key: ['user', 'path', 'ip'], limit }] })
    const long = 'x'.repeat(1_000_000)
    policy.check({ user: long, path: `/${long}`, ip: long })
    const decide = (user: string) => policy.check({ user, path: `/${long}`, ip: long }).levels[0].decision.remaining
    expect(decide(long)).toBe(98)
    expect(decide(`${long}x`)).toBe(99)
  })
})
