// Serves one framework's application three times in one process: bare, and behind the limiter of each build. Sends the
// ports, and after each message the CPU time that the process has used.
import { express, fastify, hono } from '../http/frameworks.mjs'
import { loadBuild } from './load-build.mjs'

const { framework, builds } = JSON.parse(process.argv[2])
const use = (app, limited) => app.use(limited)
const [start, add] = {
  express: [express, use],
  fastify: [fastify, (app, limited) => app.register(limited)],
  hono: [hono, use],
}[framework]

const ports = { bare: await start(() => {}) }
for (const [name, folder] of Object.entries(builds)) {
  const { rateLimit, tokenBucket } = await loadBuild(folder, ['.', `./${framework}`])
  // More than the clients take, and refilled so slowly that every client has a state.
  const limit = tokenBucket({ capacity: 1_000_000, refill: '1/s' })
  ports[name] = await start((app) => add(app, rateLimit({ limit })))
}
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuUs: user + system })
})
process.on('disconnect', () => process.exit())
process.send({ ports })
