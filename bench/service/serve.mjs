// Serves in a process of its own: the service with a policy, or a bare server of HTTP or gRPC that answers a constant. Sends its ports, and
// after each message the CPU time and memory that it has used.
import { readdirSync } from 'node:fs'
import { parsePolicyFile } from '../../packages/service/dist/policy-file/parse-policy-file.js'
import { createLog } from '../../packages/service/dist/serve/log.js'
import { readServeOptions } from '../../packages/service/dist/serve/serve-options.js'
import { startService } from '../../packages/service/dist/serve/start-service.js'
import { startBareGrpc } from './bare-grpc-server.mjs'
import { startBare } from './bare-server.mjs'

const { answer, grpcAnswer, policy, options } = JSON.parse(process.argv[2])

async function start() {
  if (answer !== undefined) return { port: await startBare(answer) }
  if (grpcAnswer !== undefined) return { grpcPort: await startBareGrpc(grpcAnswer) }
  const log = createLog('off', process.stdout)
  const file = parsePolicyFile(JSON.stringify(policy), { file: 'policy.json' })
  const { url, grpcUrl } = await startService(readServeOptions({ http: '127.0.0.1:0', ...options }, {}), log, file)
  return { port: portOf(url), grpcPort: grpcUrl && portOf(grpcUrl) }
}

function portOf(url) {
  return Number(url.slice(url.lastIndexOf(':') + 1))
}

/** Open files of this process; 0 where the system does not tell. */
function openFiles() {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send({ cpuUs: user + system, rss, heapUsed, openFiles: openFiles() })
})
process.on('disconnect', () => process.exit())
process.send(await start())
