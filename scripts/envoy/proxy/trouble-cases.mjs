// Redis that hangs, clients that leave, and a Sluice that ends, restarts or is replaced under traffic.
import assert from 'node:assert/strict'
import { once, setMaxListeners } from 'node:events'
import { connect, createServer } from 'node:net'
import { policy } from './configuration.mjs'
import { until } from './start-envoy.mjs'
import { ask, statuses } from './traffic.mjs'

const REDIS_MAY_HANG = ['--deadline-ms', '8000', '--shutdown-ms', '8000']
const LEAVING = 50
const AT_ONCE = 16
/** Requests that must have passed before something happens, and again after it. */
const ENOUGH = 300
/** Three failures end it, and each other client may have one in flight. */
const FEW = 3 + AT_ONCE
const NO_LIMIT = { headers: { 'x-account': 'busy' } }
/** The account's limit of the docs' policy denies some of these; a denial is a decision, too. */
const isDecided = (status) => status === 200 || status === 429

/**
 * Not so with `--http2 node`: after GOAWAY, `node:http2` takes no call that was on its way, and Envoy does not repeat it.
 */
const REPLACED = 'a Sluice that is replaced under load fails no request'

export function troubleCases() {
  const cases = ['own', 'node'].flatMap((http2) =>
    Object.entries(CASES)
      .filter(([name]) => http2 === 'own' || name !== REPLACED)
      .map(([name, test]) => [`${name} (${http2})`, (start) => test(start, ['--http2', http2])]),
  )
  return Object.fromEntries(cases)
}

const CASES = {
  'clients that leave while Redis hangs do no harm': async (start, args) => {
    const redis = await start.redis()
    const service = await start.service(['--policy', policy, '--store', redis.url, ...REDIS_MAY_HANG, ...args])
    const envoy = await start.envoy(service.grpc, denyErrors)
    assert.equal((await ask(envoy.port, NO_LIMIT)).status, 200)
    redis.signal('SIGSTOP')
    const asked = await envoy.count('cluster.sluice.upstream_rq_total')
    const leaving = new AbortController()
    setMaxListeners(LEAVING, leaving.signal)
    const left = Array.from({ length: LEAVING }, () => ask(envoy.port, { ...NO_LIMIT, signal: leaving.signal }))
    const staying = ask(envoy.port, NO_LIMIT)
    const settled = Promise.allSettled(left)
    await until(
      'Envoy has asked',
      async () => (await envoy.count('cluster.sluice.upstream_rq_total')) > asked + AT_ONCE,
    )
    leaving.abort()
    await settled
    redis.signal('SIGCONT')
    assert.equal((await staying).status, 200)
    assert.deepEqual(await statuses(envoy.port, 3, { headers: { 'x-account': 'next' } }), [200, 200, 200])
    assert.deepEqual(faults(service), [])
  },
  'Envoy finds a Sluice again that ended without a word, and its limits are kept': async (start, args) => {
    const redis = await start.redis()
    const start1 = (port) =>
      start.service(['--policy', policy, '--store', redis.url, '--deadline-ms', '2000', ...args], { port })
    const service = await start1(0)
    const denying = await start.envoy(service.grpc, denyErrors)
    const passing = await start.envoy(service.grpc, withoutHealthChecks)
    assert.deepEqual(await statuses(denying.port, 10, spend), Array(10).fill(200))
    assert.deepEqual(await statuses(passing.port, 1, spend), [429])
    await service.stop('SIGKILL')
    assert.deepEqual(await statuses(denying.port, 3, spend), [500, 500, 500])
    assert.deepEqual(await statuses(passing.port, 3, spend), [200, 200, 200])
    await start1(service.grpc)
    for (const { port } of [denying, passing])
      await until('Envoy asks again', async () => (await ask(port, spend)).status === 429)
    assert.deepEqual(await statuses(denying.port, 5, spend), Array(5).fill(429))
  },
  [REPLACED]: async (start, args) => {
    const redis = await start.redis()
    const begin = () => start.service(['--policy', policy, '--store', redis.url, '--deadline-ms', '5000', ...args])
    const first = await begin()
    const balancer = await start.keep(startBalancer(first.grpc))
    const envoy = await start.envoy(balancer.port, denyErrors)
    const load = startLoad(envoy.port)
    let now = first
    for (let i = 0; i < 3; i++) {
      await load.more(ENOUGH)
      const next = await begin()
      balancer.sendTo(next.grpc)
      await now.stop()
      now = next
    }
    await load.more(ENOUGH)
    assert.deepEqual(await load.end(), [])
    assert.equal(await envoy.count('cluster.application.ratelimit.error'), 0)
  },
  'of two instances one ends under load, and a few requests fail until Envoy leaves it out': async (start, args) => {
    const redis = await start.redis()
    const begin = () => start.service(['--policy', policy, '--store', redis.url, '--deadline-ms', '5000', ...args])
    const [first, second] = [await begin(), await begin()]
    const envoy = await start.envoy(first.grpc, ({ filter, cluster }) => {
      filter.failure_mode_deny = true
      const [{ lb_endpoints: instances }] = cluster.load_assignment.endpoints
      instances.push(structuredClone(instances[0]))
      instances[1].endpoint.address.socket_address.port_value = second.grpc
    })
    const load = startLoad(envoy.port)
    await load.more(ENOUGH)
    await first.stop()
    await load.more(ENOUGH)
    const failed = load.failed.length
    await load.more(ENOUGH)
    assert.equal((await load.end()).length, failed)
    assert.ok(failed <= FEW, `${failed} failed`)
  },
  "Envoy's health check sees Sluice serve, and sees that it shuts down while it still answers": async (start, args) => {
    const redis = await start.redis()
    const service = await start.service(['--policy', policy, '--store', redis.url, ...REDIS_MAY_HANG, ...args])
    const envoy = await start.envoy(service.grpc, (parts) => {
      denyErrors(parts)
      parts.cluster.health_checks = [{ ...healthCheck, grpc_health_check: { service_name: 'ratelimit' } }]
    })
    const health = async () => {
      const { cluster_statuses: clusters } = JSON.parse(await envoy.get('/clusters?format=json'))
      return clusters.find(({ name }) => name === 'sluice').host_statuses[0].health_status
    }
    await until('Sluice is healthy', async () => (await health()).eds_health_status === 'HEALTHY')
    await until('checked', async () => (await envoy.count('cluster.sluice.health_check.success')) >= 2)
    assert.notEqual((await health()).failed_active_health_check, true)
    redis.signal('SIGSTOP')
    const asked = await envoy.count('cluster.sluice.upstream_rq_total')
    const inFlight = ask(envoy.port, NO_LIMIT)
    await until('Envoy has asked', async () => (await envoy.count('cluster.sluice.upstream_rq_total')) > asked)
    service.signal('SIGTERM')
    await until('Sluice is unhealthy', async () => (await health()).failed_active_health_check)
    redis.signal('SIGCONT')
    assert.equal((await inFlight).status, 200)
    await service.ended
  },
}

const spend = { method: 'POST', path: '/v1/exports', headers: { 'x-account': 'spender' } }
const healthCheck = {
  timeout: '1s',
  interval: '0.1s',
  no_traffic_interval: '0.1s',
  unhealthy_threshold: 2,
  healthy_threshold: 1,
}

function withoutHealthChecks({ cluster }) {
  cluster.health_checks = undefined
}

function denyErrors(parts) {
  withoutHealthChecks(parts)
  parts.filter.failure_mode_deny = true
}

/** Lines of Sluice's log that say that something is wrong. */
const faults = ({ log }) => log.filter(({ level }) => level === 'error' || level === 'fatal' || level >= 50)

/** Sends each new connection to one port, as the address of a service in Kubernetes does. */
async function startBalancer(first) {
  let port = first
  const open = new Set()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      open.add(from)
      from.setNoDelay().pipe(to)
      from.on('error', () => to.destroy()).on('close', () => open.delete(from))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    sendTo: (next) => {
      port = next
    },
    async stop() {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Clients that ask one request after the other until the end, which tells what failed. */
function startLoad(port) {
  let isOver = false
  let decided = 0
  const failed = []
  const waiting = []
  const client = async () => {
    while (!isOver) {
      const { status } = await ask(port, { headers: { 'x-account': `load-${decided % 100}` } })
      if (isDecided(status)) decided++
      else failed.push(status)
      while (waiting[0]?.from <= decided + failed.length) waiting.shift().resolve()
    }
  }
  const clients = Promise.all(Array.from({ length: AT_ONCE }, client))
  return {
    failed,
    /** Waits for as many more answers. */
    more: (count) =>
      Promise.race([
        clients,
        new Promise((resolve) => waiting.push({ from: decided + failed.length + count, resolve })),
      ]),
    async end() {
      isOver = true
      await clients
      return failed
    },
  }
}
