/**
 * Serves on a free port and sends itself requests, one after another. Each is limited by the way that the first argument
 * names. Prints the codes of the warnings of Sluice, and how many requests were admitted, as JSON. The second argument may
 * be `worker`, for a server in a cluster worker, or `socket`, for one on a Unix socket.
 */
import cluster from 'node:cluster'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { concurrency, createLimiter, createLimiters, createPolicy, fixedWindow, memoryStore } from 'sluice'
import { rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit } from 'sluice/node'

const limit = fixedWindow({ quota: 1, window: '1h' })
const places = concurrency({ max: 1 })
const kept = createLimiter({ limit })
const keptStore = memoryStore()
const byTenant = new Map()
const ofTenant = (tenant) => {
  if (!byTenant.has(tenant)) byTenant.set(tenant, createLimiter({ limit }))
  return byTenant.get(tenant)
}
let lazy
const policy = () => createPolicy({ levels: [{ name: 'all', limit }] })
const later = (value) => new Promise((resolve) => setTimeout(() => resolve(value), 1))
const answer = (res, { allowed }) => res.writeHead(allowed ? 200 : 429).end()
const limited = (options) => (req, res) => rateLimit(options())(req, res, () => res.end())

/** @type {Record<string, (req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => unknown>} */
const WAYS = {
  'limiter in a handler': (_req, res) => answer(res, createLimiter({ limit }).tryAcquire('a')),
  'limiter in an async handler': async (_req, res) => {
    await later()
    const reservation = createLimiter({ limit }).reserve('a')
    answer(res, reservation.decision)
  },
  'limiter that is used after an await': async (_req, res) => {
    const limiter = createLimiter({ limit })
    await later()
    answer(res, limiter.tryAcquire('a'))
  },
  'acquire in a handler': async (_req, res) => answer(res, await createLimiter({ limit }).acquire('a')),
  'lease in a handler': (_req, res) => answer(res, createLimiter({ limit: places }).lease('a').decision),
  'acquireLease in a handler': async (_req, res) =>
    answer(res, (await createLimiter({ limit: places }).acquireLease('a')).decision),
  'limiter with a store of its own': (_req, res) =>
    answer(res, createLimiter({ limit, name: 'all', store: memoryStore() }).tryAcquire('a')),
  'createLimiters in a handler': (_req, res) =>
    answer(res, createLimiters({ one: limit, other: limit }).one.tryAcquire('a')),
  'policy in a handler': (_req, res) => answer(res, policy().check({})),
  'rateLimit in a handler': limited(() => ({ limit })),
  'rateLimit of Express in a handler': (req, res) => expressLimit({ limit })(req, res, () => res.end()),
  'rateLimit of fetch in a handler': async (_req, res) => {
    const handler = fetchLimit({ limit, key: () => 'a' })(() => new Response('ok'))
    res.writeHead((await handler(new Request('http://localhost/'))).status).end()
  },
  'a function as limit in a handler': limited(() => ({ limit: () => limit })),
  'an async key in a handler': limited(() => ({ limit, key: () => later('a') })),
  'an async limit in a handler': limited(() => ({ limit: () => later(limit) })),
  'settle in a handler': limited(() => ({ limit, settle: () => 1 })),
  'rateLimit with a policy in a handler': limited(() => ({ policy: policy() })),
  'one that is kept': (_req, res) => answer(res, kept.tryAcquire('a')),
  'one that is made at the first request and kept': (_req, res) => {
    lazy ??= createLimiter({ limit })
    answer(res, lazy.tryAcquire('a'))
  },
  'a new limiter on a kept store': (_req, res) =>
    answer(res, createLimiter({ limit, name: 'all', store: keptStore }).tryAcquire('a')),
  'one for each tenant': (req, res) => answer(res, ofTenant(Number(req.headers['x-number']) % 4).tryAcquire('a')),
}

const [way, where] = process.argv.slice(2)
const codes = []
process.on('warning', ({ name, code }) => name === 'SluiceWarning' && codes.push(code))

const report = (admitted) => console.log(JSON.stringify({ codes, admitted }))

if (way === 'no server') {
  let admitted = 0
  for (let i = 0; i < 25; i++) {
    if (createLimiter({ limit }).tryAcquire('a').allowed) admitted++
    await new Promise((resolve) => setImmediate(resolve))
  }
  report(admitted)
} else if (where === 'worker' && cluster.isPrimary) cluster.fork()
else serve()

function serve() {
  const address =
    where === 'socket' ? { path: join(tmpdir(), `sluice-${process.pid}.sock`) } : { port: 0, host: '127.0.0.1' }
  const server = createServer(WAYS[way]).listen(address, async () => {
    let admitted = 0
    for (let i = 0; i < 25; i++) if ((await statusOf(server.address(), i)) === 200) admitted++
    report(admitted)
    server.closeAllConnections()
    server.close()
    if (cluster.isWorker) cluster.worker.disconnect()
  })
}

/** The status of the n-th request to a server. */
function statusOf(address, n) {
  const to = typeof address === 'string' ? { socketPath: address } : { host: '127.0.0.1', port: address.port }
  return new Promise((resolve, reject) => {
    const sent = request({ ...to, headers: { 'x-number': String(n) } }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject)
    sent.end()
  })
}
