// A real Redis Cluster of three servers for tests, each with a third of the slots.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { freePort, startRedis } from './redis-server.mjs'

const run = promisify(execFile)
const WAIT_MS = 20_000

/** Starts three servers and waits until each of them knows that the cluster is whole. */
export async function startCluster() {
  const started = await Promise.allSettled([1, 2, 3].map(() => startNode()))
  const nodes = started.filter(({ status }) => status === 'fulfilled').map(({ value }) => value)
  const stop = async () => void (await Promise.all(nodes.map((node) => node.stop())))
  try {
    for (const { status, reason } of started) if (status === 'rejected') throw reason
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
    await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'])
    await Promise.all(nodes.map((node) => whole(node)))
    return { nodes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startNode(attempts = 3) {
  // By default the port of the cluster bus is the server's port + 10,000, which may be taken or too large.
  const busPort = await freePort()
  const args = ['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`, '--cluster-node-timeout', '2000']
  const server = await startRedis({ args }).catch((error) => {
    // Another process took the bus port in between.
    if (attempts === 1) throw error
  })
  if (server === undefined) return startNode(attempts - 1)
  const command = async (...args) => (await run('redis-cli', ['-p', `${server.port}`, ...args])).stdout.trim()
  return { ...server, command, id: await command('CLUSTER', 'MYID') }
}

/** Polls, because a server learns of the others by gossip and does not tell when it has. */
async function whole({ command, port }) {
  for (const end = performance.now() + WAIT_MS; performance.now() < end; ) {
    const info = await command('CLUSTER', 'INFO')
    if (info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')) return
  }
  throw new Error(`the cluster's server on port ${port} does not become ready`)
}
