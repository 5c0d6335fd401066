// The rules of envoyproxy/ratelimit, asked by the actions of Envoy's filter.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './start-envoy.mjs'
import { ask, statuses } from './traffic.mjs'

const perDay = (count) => `rate_limit: { unit: day, requests_per_unit: ${count} }`
const RULES = `
domain: api
descriptors:
  - { key: kind, value: cheap, ${perDay(5)} }
  - key: remote_address
    ${perDay(100)}
    descriptors:
      - { key: path, value: /nested, ${perDay(2)} }
  - { key: remote_address, value: 127.0.0.9, ${perDay(1)} }
  - { key: user, ${perDay(4)} }
  - { key: user, value: root, ${perDay(1)} }
  - { key: shape, value: posts, ${perDay(2)} }
  - { key: cost, ${perDay(10)} }
  - { key: tokens, rate_limit: { unit: day, requests_per_unit: 100 }, count_over_limit: true }
  - { key: all, rate_limit: { unlimited: true } }
  - { key: plan, ${perDay(3)} }
`
const header = (name, key) => ({ request_headers: { header_name: name, descriptor_key: key } })
const generic = (key, value) => ({ generic_key: { descriptor_key: key, descriptor_value: value } })
const DAY_MS = 86_400_000

/** Each: the `rate_limits` of the route, and a test of what passes. */
const CASES = {
  generic_key: [
    [{ actions: [generic('kind', 'cheap')] }],
    async (port) => assert.deepEqual(await statuses(port, 7), [200, 200, 200, 200, 200, 429, 429]),
  ],
  'remote_address, of all and of one': [
    [{ actions: [{ remote_address: {} }] }],
    async (port) => {
      assert.deepEqual(await statuses(port, 2, { from: '127.0.0.9' }), [200, 429])
      assert.deepEqual(await statuses(port, 3, { from: '127.0.0.8' }), [200, 200, 200])
    },
  ],
  'request_headers: one exact value and all others': [
    [{ actions: [header('x-user', 'user')] }],
    async (port) => {
      const as = (user) => ({ headers: { 'x-user': user } })
      assert.deepEqual(await statuses(port, 2, as('root')), [200, 429])
      assert.deepEqual(await statuses(port, 5, as('ann')), [200, 200, 200, 200, 429])
      assert.deepEqual(await statuses(port, 5, as('\xff')), [200, 200, 200, 200, 429])
      assert.deepEqual(await statuses(port, 1, as('ben')), [200])
      assert.deepEqual(await statuses(port, 5), [200, 200, 200, 200, 200])
    },
  ],
  'nested descriptors': [
    [{ actions: [{ remote_address: {} }, header(':path', 'path')] }],
    async (port) => {
      assert.deepEqual(await statuses(port, 3, { path: '/nested' }), [200, 200, 429])
      assert.deepEqual(await statuses(port, 3, { path: '/other' }), [200, 200, 200])
      assert.deepEqual(await statuses(port, 1, { path: '/nested', from: '127.0.0.4' }), [200])
    },
  ],
  header_value_match: [
    [
      {
        actions: [
          {
            header_value_match: {
              descriptor_key: 'shape',
              descriptor_value: 'posts',
              headers: [{ name: ':method', string_match: { exact: 'POST' } }],
            },
          },
        ],
      },
    ],
    async (port) => {
      assert.deepEqual(await statuses(port, 3, { method: 'POST' }), [200, 200, 429])
      assert.deepEqual(await statuses(port, 3), [200, 200, 200])
    },
  ],
  'several descriptors: a denial takes from none of them': [
    [{ actions: [header('x-user', 'user')] }, { actions: [generic('plan', 'one')] }],
    async (port) => {
      const as = (user) => ({ headers: { 'x-user': user } })
      assert.deepEqual(await statuses(port, 3, as('root')), [200, 429, 429])
      assert.deepEqual(await statuses(port, 3, as('ann')), [200, 200, 429])
    },
  ],
  'hits_addend: a fixed cost': [
    [{ actions: [generic('cost', 'fixed')], hits_addend: { number: 4 } }],
    async (port) => assert.deepEqual(await statuses(port, 3), [200, 200, 429]),
  ],
  'hits_addend: the cost in a header field': [
    [{ actions: [generic('cost', 'named')], hits_addend: { format: '%REQ(x-cost)%' } }],
    async (port) => {
      const costs = (cost) => ({ headers: { 'x-cost': `${cost}` } })
      assert.deepEqual(await statuses(port, 1, costs(9)), [200])
      assert.deepEqual(await statuses(port, 1, costs(2)), [429])
      assert.deepEqual(await statuses(port, 1, costs(1)), [200])
    },
  ],
  'hits_addend: a look before, and the cost after the response': [
    [
      { actions: [generic('tokens', 'model')], hits_addend: { number: 0 } },
      {
        actions: [generic('tokens', 'model')],
        hits_addend: { format: '%RESP(x-tokens)%' },
        apply_on_stream_done: true,
      },
    ],
    async (port, service) => {
      const uses = { headers: { 'x-answer': '{"x-tokens":"60"}' } }
      for (const times of [1, 2]) {
        assert.equal((await ask(port, uses)).status, 200)
        await until('the tokens are counted', async () => (await calls(service)) >= 2 * times)
      }
      assert.equal((await ask(port, uses)).status, 429)
    },
  ],
  'the X-RateLimit fields of Envoy': [
    [{ actions: [generic('plan', 'fields')] }],
    async (port) => {
      const { headers } = await ask(port)
      assert.equal(headers['x-ratelimit-limit'], '3, 3;w=86400')
      assert.equal(headers['x-ratelimit-remaining'], '2')
      assert.match(headers['x-ratelimit-reset'], /^\d+$/)
      assert.equal(headers.ratelimit, undefined)
    },
    (filter) => {
      filter.enable_x_ratelimit_headers = 'DRAFT_VERSION_03'
    },
  ],
}

/** How many calls Sluice has answered. */
async function calls(service) {
  const metrics = await (await fetch(`${service.http}/metrics`)).text()
  const counts = [...metrics.matchAll(/^sluice_http_requests_total{[^}]*door="envoy"[^}]*} (\d+)/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

export function ruleCases() {
  const cases = Object.entries(CASES).map(([name, [rateLimits, test, change = () => {}]]) => [
    `rules: ${name}`,
    (start) => inOneDay(() => tryRules(start, rateLimits, test, change)),
  ])
  return Object.fromEntries(cases)
}

async function tryRules(start, rateLimits, test, change) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-rules-'))
  await start.keep({ stop: () => rmSync(folder, { recursive: true }) })
  writeFileSync(join(folder, 'api.yaml'), RULES)
  const service = await start.service(['--envoy-config', folder, '--envoy-headers', 'none'])
  const envoy = await start.envoy(service.grpc, ({ filter, route, virtualHost }) => {
    // A call that fails shows.
    filter.failure_mode_deny = true
    change(filter)
    route.rate_limits = isPlain(rateLimits) ? rateLimits : undefined
    if (!isPlain(rateLimits))
      virtualHost.typed_per_filter_config = { 'envoy.filters.http.ratelimit': ofFilter(rateLimits) }
  })
  await test(envoy.port, service)
}

/** Envoy ignores `hits_addend` in the `rate_limits` of a route. */
const isPlain = (rateLimits) => rateLimits.every(({ hits_addend: hits }) => hits === undefined)

const ofFilter = (rateLimits) => ({
  '@type': 'type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute',
  rate_limits: rateLimits,
})

/** Quotas per day begin anew at midnight, UTC: a try during which that happens does not count. */
async function inOneDay(test) {
  const day = Math.floor(Date.now() / DAY_MS)
  try {
    await test()
  } catch (error) {
    if (day === Math.floor(Date.now() / DAY_MS)) throw error
    await test()
  }
}
