// Serves the applications of a framework, all in this process: says their ports, and when asked how much CPU it has used.
import { frameworks } from './frameworks.mjs'

const ports = {}
for (const [contender, start] of Object.entries(frameworks[process.argv[2]])) ports[contender] = await start()
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuUs: user + system })
})
process.on('disconnect', () => process.exit())
process.send({ ports })
