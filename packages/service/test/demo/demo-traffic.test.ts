/** The demo's clients against the example policy, on a clock that the test moves. */
import { createPolicy, memoryStore, type Verdict } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { demoTraffic } from '../../src/demo/demo-traffic.js'
import { loadPolicyFile } from '../../src/policy-file/load-policy-file.js'
import { EXAMPLE_POLICY } from '../../src/serve/start-service.js'

const TICK_MS = 100
const SECONDS = 180

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Seen {
  readonly client: string
  readonly second: number
  readonly verdict: Verdict
}

/** Three minutes of the demo, each request with its verdict. */
async function decided(): Promise<readonly Seen[]> {
  const { policy: data, attributes: asked } = await loadPolicyFile(EXAMPLE_POLICY)
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const policy = createPolicy({ ...data, name: 'payments', store: memoryStore({ clock }) })
  const random = numbers(7)
  const seen: Seen[] = []
  for (let atMs = 0; atMs < SECONDS * 1_000; atMs += TICK_MS) {
    for (const { attributes } of demoTraffic(atMs, TICK_MS, random)) {
      expect(asked).toEqual(expect.arrayContaining(Object.keys(attributes)))
      const verdict = policy.check(attributes)
      seen.push({ client: attributes.merchant ?? attributes.ip, second: Math.floor(atMs / 1_000), verdict })
    }
    clock.advance(TICK_MS)
  }
  return seen
}

const seen = await decided()
const of = (client: string) => seen.filter((each) => each.client === client)
const denials = (client: string) => of(client).flatMap(({ verdict }) => verdict.deniedBy)

test('the load is small and comes in waves', () => {
  const loads = Array.from({ length: SECONDS }, (_, second) => seen.filter((each) => each.second === second).length)
  const mean = seen.length / SECONDS
  expect(mean).toBeGreaterThan(60)
  expect(mean).toBeLessThan(130)
  expect(Math.min(...loads)).toBeGreaterThan(10)
  expect(Math.min(...loads)).toBeLessThan(50)
  expect(Math.max(...loads)).toBeGreaterThan(120)
  expect(Math.max(...loads)).toBeLessThan(230)
})

test('each client shows what it is there for', () => {
  for (const quiet of ['acct_bakery', 'acct_big', 'acct_shop_1']) {
    expect(of(quiet).length, quiet).toBeGreaterThan(10)
    expect(denials(quiet), quiet).toEqual([])
  }
  for (const [client, level] of [
    ['acct_tickets', 'charges'],
    ['acct_cardtester', 'charges'],
    ['203.0.113.66', 'ip'],
  ]) {
    expect(new Set(denials(client)), client).toEqual(new Set([level]))
    const share = denials(client).length / of(client).length
    expect(share, client).toBeGreaterThan(0.03)
    expect(share, client).toBeLessThan(0.7)
  }
  expect(new Set(seen.map(({ client }) => client)).size).toBeGreaterThan(40)
})

test('the requests of a batch are mixed, so that a sample of the first shows every kind of client', () => {
  const random = numbers(3)
  const first = Array.from({ length: 600 }, (_, i) => demoTraffic(i * TICK_MS, TICK_MS, random)[0]?.attributes)
  const clients = new Set(first.map((each) => each?.merchant ?? each?.ip))
  for (const client of ['acct_bakery', 'acct_big', 'acct_tickets', 'acct_cardtester', '203.0.113.66'])
    expect(clients).toContain(client)
})

test('a person who has just opened the page soon sees a denial', () => {
  const first = seen.find(({ verdict }) => !verdict.allowed)
  expect(first?.second).toBeLessThan(10)
})

test('a span of any length has as many requests as its length asks for', () => {
  const random = numbers(11)
  const count = (spanMs: number) => {
    let requests = 0
    for (let atMs = 0; atMs < 60_000; atMs += spanMs) requests += demoTraffic(atMs, spanMs, random).length
    return requests
  }
  const fine = count(10)
  for (const spanMs of [50, 100, 500]) expect(Math.abs(count(spanMs) / fine - 1)).toBeLessThan(0.1)
  expect(demoTraffic(5_000, 0, () => 0.5)).toEqual([])
})
