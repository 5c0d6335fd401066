/**
 * Serves on a free port and sends itself requests, one after another. Each is limited by the way that the first argument
 * names. Prints the codes of the warnings of Sluice, and how many requests were admitted, as JSON.
 */
import { createServer } from 'node:http'
import { createLimiter, fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/node'

const limit = fixedWindow({ quota: 1, window: '1h' })
const kept = createLimiter({ limit })
const byTenant = new Map()
const ofTenant = (tenant) => {
  if (!byTenant.has(tenant)) byTenant.set(tenant, createLimiter({ limit }))
  return byTenant.get(tenant)
}
const answer = (res, { allowed }) => res.writeHead(allowed ? 200 : 429).end()

/** @type {Record<string, (req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => unknown>} */
const WAYS = {
  'limiter in a handler': (_req, res) => answer(res, createLimiter({ limit }).tryAcquire('a')),
  'limiter in an async handler': async (_req, res) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    const reservation = createLimiter({ limit }).reserve('a')
    answer(res, reservation.decision)
  },
  'acquire in a handler': async (_req, res) => answer(res, await createLimiter({ limit }).acquire('a')),
  'rateLimit in a handler': (req, res) => rateLimit({ limit })(req, res, () => res.end()),
  'a function as limit in a handler': (req, res) => rateLimit({ limit: () => limit })(req, res, () => res.end()),
  'one that is kept': (_req, res) => answer(res, kept.tryAcquire('a')),
  'one for each tenant': (req, res) => answer(res, ofTenant(Number(req.headers['x-number']) % 4).tryAcquire('a')),
}

const codes = []
process.on('warning', ({ name, code }) => name === 'SluiceWarning' && codes.push(code))

const report = (admitted) => console.log(JSON.stringify({ codes, admitted }))

if (process.argv[2] === 'no server') {
  let admitted = 0
  for (let i = 0; i < 25; i++) {
    if (createLimiter({ limit }).tryAcquire('a').allowed) admitted++
    await new Promise((resolve) => setImmediate(resolve))
  }
  report(admitted)
} else {
  const server = createServer(WAYS[process.argv[2]]).listen(0, '127.0.0.1', async () => {
    let admitted = 0
    for (let i = 0; i < 25; i++) {
      const response = await fetch(`http://127.0.0.1:${server.address().port}`, { headers: { 'x-number': String(i) } })
      await response.arrayBuffer()
      if (response.status === 200) admitted++
    }
    report(admitted)
    server.closeAllConnections()
    server.close()
  })
}
