import type { IncomingMessage } from 'node:http'
import { createPolicy, fixedWindow, memoryStore } from 'sluice'
import { describe, expect, it } from 'vitest'
import { limitedServer, type Options, raw, statusIn, statusOf } from './limited-server.js'

const limit = fixedWindow({ quota: 1, window: '100d' })

/** The text behind `?`, decoded: it may contain characters that a header field may not. */
const fromQuery: Options & object = { limit, key: ({ url = '' }) => decodeURIComponent(url.split('?')[1]) }

const HOSTILE = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '{}',
  '{a}b',
  '{',
  '*',
  '\0',
  'a\0b',
  'a',
  'a\r\nSet-Cookie: x=1',
  'a\n',
  '\u2028',
  'null',
  'undefined',
  'default',
  '%00',
  '🦛',
  ' ',
]

describe('keys that look like something else', () => {
  it('are keys like any other', async () => {
    const app = await limitedServer(fromQuery)
    for (const key of HOSTILE) {
      const path = `/?${encodeURIComponent(key)}`
      expect([await statusOf(app, {}, path), await statusOf(app, {}, path)], key).toEqual([200, 429])
    }
  })

  it('so are attributes of a policy, which do not become those of all clients', async () => {
    const policy = createPolicy({
      levels: [
        { name: 'user', key: ['user'], limit },
        {
          name: 'plan',
          when: { plan: 'free' },
          key: ['constructor'],
          limit: fixedWindow({ quota: 2, window: '100d' }),
        },
      ],
    })
    const app = await limitedServer({
      policy,
      attributes: ({ url = '' }) => ({
        ...{ user: null, plan: null, constructor: null },
        ...JSON.parse(decodeURIComponent(url.split('?')[1])),
      }),
    })
    const ask = (attributes: string) => statusOf(app, {}, `/?${encodeURIComponent(attributes)}`)
    for (const user of HOSTILE.slice(0, 12)) {
      expect([await ask(JSON.stringify({ user })), await ask(JSON.stringify({ user }))], user).toEqual([200, 429])
    }
    // Nothing of this is a user or a plan.
    const polluting = '{"__proto__":{"user":"a","plan":"free"},"constructor":"b"}'
    expect([await ask(polluting), await ask(polluting), await ask(polluting)]).toEqual([200, 200, 200])
    expect(({} as { user?: string }).user).toBeUndefined()
    expect(await ask('{"user":{"toString":1}}')).toBe(500)
  })

  it('fields with such names are fields like any other', async () => {
    const app = await limitedServer({ limit, key: ({ headers }) => String(headers['x-user'] ?? 'none') })
    const fields = ['__proto__: x', 'constructor: x', 'X-User: toString']
    expect(statusIn(await raw(app, 'GET /', fields))).toBe(200)
    expect(statusIn(await raw(app, 'GET /', fields))).toBe(429)
    expect(statusIn(await raw(app, 'GET /', ['__proto__: x']))).toBe(200)
  })

  it('a client without a key is limited by its address', async () => {
    const app = await limitedServer({ limit, key: ({ headers }) => headers['x-user'] as string })
    expect([await statusOf(app), await statusOf(app)]).toEqual([200, 429])
    expect(await statusOf(app, { 'x-user': 'a' })).toBe(200)
  })

  it.each([
    ['an empty field', { 'x-user': '' }, ({ headers }: IncomingMessage) => headers['x-user'] as string],
    ['an empty parameter', {}, ({ url = '' }: IncomingMessage) => url.split('?user=')[1]],
    [
      'a field that comes twice, as a list',
      { 'x-user': 'a' },
      ({ headersDistinct }: IncomingMessage) => headersDistinct['x-user'] as unknown as string,
    ],
    ['no field, as an empty list', {}, () => [] as unknown as string],
  ])('%s is no key: the request is limited by address', async (_what, fields, key) => {
    const app = await limitedServer({ limit, key, trustedProxies: ['127.0.0.1'] })
    const ask = (client: string) => statusOf(app, { ...fields, 'x-forwarded-for': client }, '/?user=')
    expect([await ask('203.0.113.1'), await ask('203.0.113.1')]).toEqual([200, 429])
    expect(await ask('203.0.113.2')).toBe(200)
  })

  it.each([
    ['a number', 7],
    ['an object', { id: 'a' }],
    ['true', true],
  ])('%s is a mistake of the program: no request passes', async (_what, key) => {
    const app = await limitedServer({ limit, key: () => key as unknown as string })
    expect(await statusOf(app)).toBe(500)
    expect(app.handled).toEqual([])
  })

  it('an attribute that is a list, as a parameter that comes twice is, does not leave the level that asks for it', async () => {
    const policy = createPolicy({ levels: [{ name: 'account', key: ['account'], limit }] })
    const app = await limitedServer({ policy, attributes: () => ({ account: ['a', 'b'] }) })
    expect([await statusOf(app), await statusOf(app)]).toEqual([200, 429])
  })

  it('an attribute that is empty counts as absent', async () => {
    const policy = createPolicy({
      levels: [
        { name: 'account', key: ['account'], limit },
        { name: 'ip', when: { account: null }, key: ['ip'], limit },
      ],
    })
    const app = await limitedServer({ policy, attributes: () => ({ account: '' }), trustedProxies: ['127.0.0.1'] })
    const ask = (client: string) => statusOf(app, { 'x-forwarded-for': client })
    expect([await ask('203.0.113.1'), await ask('203.0.113.1')]).toEqual([200, 429])
    expect(await ask('203.0.113.2')).toBe(200)
  })

  it.each([
    ['empty', ''],
    ['a list', ['203.0.113.1', '203.0.113.2']],
    ['not said', undefined],
  ])('an address that is %s is that of the connection', async (_what, ip) => {
    const policy = createPolicy({ levels: [{ name: 'ip', key: ['ip'], limit }] })
    const app = await limitedServer({ policy, attributes: () => ({ ip }) })
    expect([await statusOf(app), await statusOf(app)]).toEqual([200, 429])
  })

  it('a missing attribute that the policy asks about is an error, and no request passes', async () => {
    const policy = createPolicy({ levels: [{ name: 'user', key: ['user'], limit }] })
    await expect(limitedServer({ policy })).rejects.toThrow("the policy asks about 'user'; give rateLimit attributes")
    const app = await limitedServer({ policy, attributes: () => ({ usr: 'a' }) })
    expect(await statusOf(app)).toBe(500)
    expect(app.handled).toEqual([])
  })
})

describe('huge keys', () => {
  it('are told apart to the last letter, and take no more room than small ones', async () => {
    const store = memoryStore()
    const megabyte = 'x'.repeat(1_000_000)
    const app = await limitedServer({ limit, store, name: 'huge', key: ({ headers }) => megabyte + headers['x-user'] })
    expect(await statusOf(app, { 'x-user': 'a' })).toBe(200)
    const { bytes } = store.stats()
    for (const user of ['b', 'c']) {
      expect([await statusOf(app, { 'x-user': user }), await statusOf(app, { 'x-user': user })]).toEqual([200, 429])
    }
    expect(await statusOf(app, { 'x-user': 'a' })).toBe(429)
    expect(store.stats()).toMatchObject({ keys: 3, bytes })
  })

  it('in the longest field that a server takes', async () => {
    const app = await limitedServer({ limit, key: ({ headers }) => String(headers['x-user']) })
    const [one, other] = [`${'k'.repeat(15_000)}1`, `${'k'.repeat(15_000)}2`]
    expect([await statusOf(app, { 'x-user': one }), await statusOf(app, { 'x-user': one })]).toEqual([200, 429])
    expect(await statusOf(app, { 'x-user': other })).toBe(200)
  })
})

describe('response splitting', () => {
  it('no key gets into a field of a response', async () => {
    for (const dialect of ['draft', 'draft-6', 'legacy'] as const) {
      const app = await limitedServer({ ...fromQuery, dialect, expose: true })
      const line = `GET /?${encodeURIComponent('k\r\nX-Injected: yes\r\n\r\n<html>')}`
      for (const status of [200, 429]) {
        const response = await raw(app, line)
        expect(statusIn(response)).toBe(status)
        expect(response).not.toMatch(/injected|html/i)
      }
    }
  })

  it('nor an attribute of a policy', async () => {
    const policy = createPolicy({ levels: [{ name: 'user', key: ['user'], limit }] })
    const app = await limitedServer({
      policy,
      attributes: ({ url = '' }) => ({ user: decodeURIComponent(url.split('?')[1]) }),
    })
    for (const status of [200, 429]) {
      const response = await raw(app, 'GET /?k%0d%0aX-Injected:%20yes')
      expect(statusIn(response)).toBe(status)
      expect(response).not.toMatch(/injected/i)
    }
  })

  it.each(['a\r\nb', 'a\nb', 'a"b', 'a b', 'ä', '', 'a\0', 'a,b'])(
    '%j is no name of a limit or of a level, for those do get into fields',
    async (name) => {
      await expect(limitedServer({ limit, name })).rejects.toThrow('name must be ')
      expect(() => createPolicy({ levels: [{ name, limit }] })).toThrow('name')
    },
  )
})
