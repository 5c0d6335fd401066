// Serves one application. Sends its port, and after each message the CPU time that it has used.
import { frameworks } from './frameworks.mjs'

const [framework, contender] = process.argv.slice(2)
const port = await frameworks[framework][contender]()
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuUs: user + system })
})
process.on('disconnect', () => process.exit())
process.send({ port })
