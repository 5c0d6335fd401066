// Serves one framework's application three times in one process: bare, limited, and limited with an `onDecision` that counts.
// Sends the ports, and after each message the CPU time that the process has used. While the last message was
// `{ isCounting: true }`, a recorder of `sluice/metrics` counts too: it hears every limiter of the process, so it must be there only
// while the third application has its turn.
import { createRecorder } from 'sluice/metrics'
import { express, fastify, hono, sluiceOptions } from './frameworks.mjs'

const [framework] = process.argv.slice(2)
const start = { express, fastify, hono }[framework]
const { rateLimit } = await import(`sluice/${framework}`)
const add = framework === 'fastify' ? (app, limited) => app.register(limited) : (app, limited) => app.use(limited)

const options = await sluiceOptions()
let told = 0
const onDecision = ({ allowed }) => {
  if (allowed) told++
}
const ports = {
  bare: await start(() => {}),
  plain: await start((app) => add(app, rateLimit(options))),
  counted: await start((app) => add(app, rateLimit({ ...options, onDecision }))),
}

let recorder
process.on('message', ({ isCounting }) => {
  if (isCounting && recorder === undefined) {
    told = 0
    recorder = createRecorder()
  } else if (!isCounting && recorder !== undefined) {
    recorder.close()
    const [{ allowed }] = recorder.read().series
    if (allowed !== told) throw new Error(`onDecision was told of ${told} decisions, and the recorder of ${allowed}`)
    recorder = undefined
  }
  const { user, system } = process.cpuUsage()
  process.send({ cpuUs: user + system })
})
process.on('disconnect', () => process.exit())
process.send({ ports })
