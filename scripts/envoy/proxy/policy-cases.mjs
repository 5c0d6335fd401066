// What docs/service-envoy.md promises: its configuration and its policy, as they are.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { run } from '../../run-command.mjs'
import { configurationFile, example, policy } from './configuration.mjs'
import { ask, statuses } from './traffic.mjs'

const HOUR_MS = 3_600_000
const EXPORT = { method: 'POST', path: '/v1/exports' }
const QUOTA = 10
const ofAccount = (name) => ({ ...EXPORT, headers: { 'x-account': name } })

export function policyCases({ envoy, certificates }) {
  return {
    'Envoy accepts the configuration of the docs, and warns of nothing': () => {
      const { ok, output } = run(envoy, ['--mode', 'validate', '-l', 'warning', '-c', configurationFile])
      assert.deepEqual([ok, output], [true, `configuration '${configurationFile}' OK`])
    },
    ...onBothServers(
      'requests pass until the limit, and then Envoy tells the client what the docs say',
      async (start, args) => {
        const { port } = await start.envoy((await start.service(['--policy', policy, ...args])).grpc)
        await inOneHour(async (round) => {
          const passed = await ask(port, ofAccount(`acme-${round}`))
          assert.equal(passed.status, 200)
          assert.equal(passed.body, 'hello')
          assert.equal(passed.headers['ratelimit-policy'], '"account";q=100;w=2, "exports";q=10;w=3600')
          assert.match(passed.headers.ratelimit, /^"account";r=99;t=1, "exports";r=9;t=\d+$/)
          assert.equal(passed.headers['retry-after'], undefined)
          assert.deepEqual(await statuses(port, QUOTA, ofAccount(`acme-${round}`)), [
            ...Array(QUOTA - 1).fill(200),
            429,
          ])
          const denied = await ask(port, ofAccount(`acme-${round}`))
          assert.equal(denied.status, 429)
          assert.match(denied.headers.ratelimit, /"exports";r=0;t=\d+$/)
          assert.match(denied.headers['retry-after'], /^[1-9]\d{0,3}$/)
          assert.equal(denied.headers['content-type'], 'application/problem+json')
          assert.deepEqual(JSON.parse(denied.body)['violated-policies'], ['exports'])
          assert.equal((await ask(port, ofAccount(`other-${round}`))).status, 200)
          assert.equal((await ask(port, { headers: { 'x-account': `acme-${round}` } })).status, 200)
        })
      },
    ),
    'a client without an account is limited by its address, and another address is not': async (start) => {
      const { port } = await start.envoy((await start.service(['--policy', policy])).grpc)
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(port, { from: '127.0.0.2' })))
      const passed = answers.filter(({ status }) => status === 200).length
      assert.ok(passed >= 20 && passed < 100, `${passed} of 100 passed`)
      assert.equal((await ask(port, { from: '127.0.0.3' })).status, 200)
    },
    ...onBothServers(
      'a header value that is not UTF-8 keeps its limit, also where Envoy lets errors pass',
      async (start, args) => {
        const service = await start.service(['--policy', policy, ...args])
        const envoy = await start.envoy(service.grpc)
        await inOneHour(async (round) => {
          const account = `caf\xe9\xff-${round}`
          assert.deepEqual(await statuses(envoy.port, QUOTA + 1, ofAccount(account)), [...Array(QUOTA).fill(200), 429])
        })
        assert.equal(await envoy.count('cluster.application.ratelimit.error'), 0)
      },
    ),
    'the filters of the recipes for Istio and Envoy Gateway limit, too': async (start) => {
      const service = await start.service(['--policy', policy])
      for (const recipe of [istio(), envoyGateway()]) {
        const { port } = await start.envoy(service.grpc, ({ filter, virtualHost, route, cluster }) => {
          const { grpc_service: grpc } = recipe.filter.rate_limit_service
          grpc.envoy_grpc.cluster_name = cluster.name
          Object.assign(filter, recipe.filter, { timeout: filter.timeout })
          route.rate_limits = undefined
          virtualHost.rate_limits = recipe.rateLimits
        })
        await inOneHour(async (round) => {
          const account = `${recipe.name}-${round}`
          assert.deepEqual(await statuses(port, QUOTA + 1, ofAccount(account)), [...Array(QUOTA).fill(200), 429])
        })
      }
    },
    ...(certificates && {
      ...onBothServers(
        'Envoy asks over TLS with its certificate, and gets no answer without one',
        async (start, args) => {
          const at = (name) => join(certificates, `${name}.pem`)
          const tls = ['--grpc-cert', at('server'), '--grpc-key', at('server-key'), '--grpc-client-ca', at('ca')]
          const { grpc } = await start.service(['--policy', policy, ...args, ...tls])
          const through = (certificate) =>
            start.envoy(grpc, ({ filter, cluster }) => {
              filter.failure_mode_deny = true
              cluster.health_checks = undefined
              cluster.transport_socket = tlsSocket(at('ca'), certificate)
            })
          const known = await through({
            certificate_chain: { filename: at('client') },
            private_key: { filename: at('client-key') },
          })
          await inOneHour(async (round) => {
            const account = ofAccount(`tls-${round}`)
            assert.deepEqual(await statuses(known.port, QUOTA + 1, account), [...Array(QUOTA).fill(200), 429])
          })
          const unknown = await through(undefined)
          assert.deepEqual(await statuses(unknown.port, 3), [500, 500, 500])
        },
      ),
    }),
  }
}

function tlsSocket(authority, certificate) {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      sni: 'localhost',
      common_tls_context: {
        tls_certificates: certificate && [certificate],
        validation_context: {
          trusted_ca: { filename: authority },
          match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: 'localhost' } }],
        },
      },
    },
  }
}

function onBothServers(name, test) {
  return Object.fromEntries(
    ['own', 'node'].map((http2) => [`${name} (${http2})`, (start) => test(start, ['--http2', http2])]),
  )
}

/** Quotas per hour begin anew with the hour: a try during which that happens does not count. */
async function inOneHour(test) {
  for (let round = 0; ; round++) {
    const hour = Math.floor(Date.now() / HOUR_MS)
    try {
      return await test(round)
    } catch (error) {
      if (hour === Math.floor(Date.now() / HOUR_MS)) throw error
    }
  }
}

function istio() {
  const [filter, virtualHost] = example('istio.yaml').spec.configPatches
  return { name: 'istio', filter: filter.patch.value.typed_config, rateLimits: virtualHost.patch.value.rate_limits }
}

function envoyGateway() {
  const [filter, rateLimits] = example('envoy-gateway.yaml').spec.jsonPatches.map(({ operation }) => operation.value)
  return { name: 'gateway', filter: filter.typed_config, rateLimits }
}
