import { describe, expect, it } from 'vitest'
import { InvalidTypeError, InvalidValueError } from '../../src/index.js'
import { type ServiceStoreOptions, serviceStore } from '../../src/stores/client/index.js'

describe('the address of a service', () => {
  it.each([
    [
      undefined,
      InvalidTypeError,
      "url must be the address of a service, such as 'http://127.0.0.1:8080', got undefined",
    ],
    ['', InvalidValueError, 'url must be the address of a service'],
    ['127.0.0.1:8080', InvalidValueError, 'url must be the address of a service'],
    ['redis://127.0.0.1:6379', InvalidValueError, "got 'redis:'"],
    ['http://127.0.0.1:8080/?token=1', InvalidValueError, 'without ? or #'],
    ['http://user:secret@127.0.0.1', InvalidValueError, 'url must have no password; use headers'],
  ])('%s is an error that says what would be right, and shows no password', (url, type, message) => {
    const make = () => serviceStore(url as string)
    expect(make).toThrow(type)
    expect(make).toThrow(message)
    expect(make).not.toThrow('secret')
  })

  it.each(['http://127.0.0.1:8080', 'https://limits.example/sluice/', new URL('http://[::1]:8080')])(
    '%s is right',
    (url) => {
      expect(serviceStore(url).stats()).toMatchObject({ calls: 0, breaker: 'closed' })
    },
  )
})

describe('the options of a service store', () => {
  it.each<[object, string]>([
    [{ deadline: 50 }, "serviceStore has no option 'deadline'; did you mean deadlineMs?"],
    [{ deadlineMs: 0 }, 'deadlineMs must be a whole number from 1'],
    [{ onFailure: 'allow' }, "onFailure must be 'open', 'closed' or 'local'"],
    [{ instances: 0 }, 'instances must be a whole number from 1'],
    [{ maxLocalKeys: 0 }, 'maxLocalKeys must be'],
    [{ maxBatch: 1_001 }, 'maxBatch must be a whole number from 1 to 1,000'],
    [{ maxConnections: 0 }, 'maxConnections must be'],
    [{ maxPending: 0 }, 'maxPending must be'],
    [{ headers: 'x' }, 'headers must be an object such as'],
    [{ headers: { 'a b': 'c' } }, "'a b' is none"],
    [{ headers: { authorization: 'Bearer secret\r\nX: y' } }, "'authorization' is none"],
    [{ headers: { 'Content-Length': '1' } }, 'headers must be without content-type'],
  ])('%o is an error', (options, message) => {
    const make = () => serviceStore('http://127.0.0.1:8080', options as ServiceStoreOptions)
    expect(make).toThrow(message)
    expect(make).not.toThrow('secret')
  })
})

it('a call that is wrong, or too large for the service, is rejected and not sent', async () => {
  const store = serviceStore('http://127.0.0.1:9')
  const limit = { algorithm: 'token-bucket', capacity: 10, refill: '1/s' } as const
  const demand = { name: 'a', key: 'key', limit, cost: 1 }
  for (const wrong of [{ name: '' }, { key: '' }, { cost: -1 }, { onFailure: 'x' }, { limit: { algorithm: 'x' } }]) {
    await expect(store.decide([{ ...demand, ...wrong } as never])).rejects.toThrow(/must be|is unknown/)
    await expect(store.charge({ ...demand, ...wrong } as never)).rejects.toThrow(/must be|is unknown/)
  }
  await expect(store.decide([{ ...demand, key: 'k'.repeat(500_001) }])).rejects.toThrow('at most 500,000 characters')
  await expect(store.block('a', 'key', 0)).rejects.toThrow('durationUs must be')
  await expect(store.reset('a', '')).rejects.toThrow('key must be')
  expect(store.stats()).toMatchObject({ calls: 0, requests: 0 })
})
