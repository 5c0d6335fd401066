import { createShaper, InvalidTypeError, InvalidValueError, memoryStore } from 'sluice'
import { shapedFetch } from 'sluice/http'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const rate = { drain: '10/s', capacity: 100 } as const
const shaper = createShaper(rate)

/** Wrong options, and a part of the error message. */
const TABLE: readonly (readonly [what: string, options: unknown, message: string])[] = [
  ['nothing', undefined, 'shapedFetch takes an object with drain, capacity'],
  ['an URL', 'https://api.example.com', 'shapedFetch takes an object with drain, capacity, name, store'],
  ['no rate', { capacity: 100 }, 'drain must be a rate such as'],
  ['a bare number', { drain: 10, capacity: 100 }, 'a bare number does not say per what'],
  ['no capacity', { drain: '10/s' }, 'capacity must be a whole number from 1'],
  ['a misspelt option', { ...rate, retrys: 1 }, "shapedFetch has no option 'retrys'; did you mean retries?"],
  ['retry', { ...rate, retry: 1 }, "shapedFetch has no option 'retry'; retry is `retries` here"],
  ['a rate', { rate: '10/s', capacity: 100 }, "no option 'rate'; rate is `drain` here, as in"],
  ['retries as text', { ...rate, retries: '3' }, "retries must be a whole number from 0, got '3'"],
  ['half a retry', { ...rate, retries: 0.5 }, 'retries must be a whole number from 0, got 0.5'],
  ['a negative wait', { ...rate, maxWaitMs: -1 }, 'maxWaitMs must be a number of milliseconds from 0, got -1'],
  ['a wait as text', { ...rate, longestRetryAfterMs: '1m' }, 'longestRetryAfterMs must be a number of milliseconds'],
  ['a budget of a number', { ...rate, budget: 0.1 }, 'budget takes an object with ratio, least, got 0.1'],
  ['a negative ratio', { ...rate, budget: { ratio: -1 } }, 'budget.ratio must be a number from 0, got -1'],
  ['an endless budget', { ...rate, budget: { least: Infinity } }, 'budget.least must be a number from 0, got Infinity'],
  ['a key that is a text', { ...rate, keyOf: 'host' }, "keyOf must be a function, got 'host'"],
  ['fetch as an object', { ...rate, fetch: {} }, 'fetch must be a function, got an object'],
  ['no clock', { ...rate, clock: 5 }, 'clock must be an object with a method now()'],
  ['a store without a name', { ...rate, store: memoryStore() }, 'name (which keeps queues on one store apart) must be'],
  [
    'a clock beside a store',
    { ...rate, name: 'a', store: memoryStore(), clock: new ManualClock(0) },
    'clock must be given to the store',
  ],
  ['no store', { ...rate, name: 'a', store: {} }, 'store must be a store such as memoryStore()'],
  ['a list of hosts', { ...rate, hosts: ['a'] }, "hosts must be an object of hosts, as in { 'api.example.com'"],
  [
    'a host that is an URL',
    { ...rate, hosts: { 'https://a.b/': {} } },
    'hosts must be an object with hosts as in URLs, such',
  ],
  ['a host in capitals', { ...rate, hosts: { 'A.example': {} } }, "got 'A.example'"],
  ['a host with a port that no URL shows', { ...rate, hosts: { 'a.example:443': {} } }, 'without the ports 80 and 443'],
  [
    'a host twice',
    { ...rate, hosts: { 'a.b': {}, 'a.b.': {} } },
    "each host once, with or without a dot at the end, got 'a.b.'",
  ],
  ["a host's rate", { ...rate, hosts: { 'a.b': { drain: '10' } } }, "hosts['a.b']: drain must be a rate"],
  ["a host's name", { ...rate, hosts: { 'a.b': { drian: '1/s' } } }, "hosts['a.b']: it has no option 'drian'; did you"],
  ["a host's rate by another name", { ...rate, hosts: { 'a.b': { rate: '1/s' } } }, 'rate is `drain` here, as in'],
  ['a rate beside a shaper', { shaper, drain: '10/s' }, 'drain must be left out beside a shaper'],
  ['hosts beside a shaper', { shaper, hosts: {} }, 'hosts must be left out beside a shaper'],
  ['no shaper', { shaper: {} }, 'shaper must be a shaper made by createShaper, got an object'],
]

describe('options of shapedFetch', () => {
  it.each(TABLE)('%s is an error that says how to fix it', (_what, options, message) => {
    const make = () => shapedFetch(options as typeof rate)
    expect(make).toThrow(message)
    expect(make).toThrow(expect.toSatisfy((e) => e instanceof InvalidTypeError || e instanceof InvalidValueError))
  })

  it('all options may be set', () => {
    const hosts = { 'api.example.com': { drain: '1/s' }, 'localhost:8080': { capacity: 5 }, '[::1]:8080': {} } as const
    const call: typeof fetch = shapedFetch({
      ...rate,
      name: 'calls',
      store: memoryStore(),
      hosts,
      keyOf: ({ url }) => url,
      maxWaitMs: 0,
      retries: 0,
      budget: { ratio: 0, least: 0 },
      longestRetryAfterMs: 0,
      fetch,
      random: Math.random,
    })
    expect(call).toBeTypeOf('function')
  })

  it.each([
    ['a promise', async () => 'key', 'keyOf must be a synchronous function'],
    ['nothing', () => undefined, 'the result of keyOf must be a non-empty string, got undefined'],
  ])('a key that is %s rejects the call', async (_what, keyOf, message) => {
    const call = shapedFetch({ ...rate, keyOf: keyOf as never, fetch: () => Promise.resolve(new Response()) })
    await expect(call('http://127.0.0.1')).rejects.toThrow(message)
  })
})
