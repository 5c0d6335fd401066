// Real Redis servers for tests and benchmarks: each on a free port, in a folder of its own, stopped by its own id.
// SLUICE_REDIS_SERVER is the command that starts one, if it is not `redis-server` (see test-servers.mjs).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const running = new Set()
// No server outlives this process, unless that is killed outright.
process.once('exit', killAll)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
  process.once(signal, () => {
    killAll()
    process.kill(process.pid, signal)
  })
}

function killAll() {
  for (const child of running) child.kill('SIGKILL')
}

/**
 * Starts a server and waits until it serves. A `folder` of the caller outlives the server, with the data in it.
 * @param {{ port?: number, args?: readonly string[], folder?: string }} [options]
 */
export function startRedis({ port, args = [], folder } = {}) {
  const options = ['--save', '', '--appendonly', 'no', ...args]
  return start(port, () => options, 'Ready to accept connections', folder)
}

/**
 * Starts a Sentinel and waits until it watches.
 * @param {readonly string[]} lines of its configuration
 */
export function startSentinel(lines) {
  const argsIn = async (folder) => {
    const config = join(folder, 'sentinel.conf')
    await writeFile(config, lines.join('\n'))
    return [config, '--sentinel']
  }
  return start(undefined, argsIn, '+monitor')
}

async function start(port, argsIn, readyText, ownFolder) {
  for (let attempt = 1; ; attempt++) {
    const server = await tryStart(port ?? (await freePort()), argsIn, readyText, ownFolder)
    if (server !== undefined) return server
    // Another process took the port in between.
    if (port !== undefined || attempt === 10) throw new Error('redis-server does not start')
  }
}

async function tryStart(port, argsIn, readyText, ownFolder) {
  const folder = ownFolder ?? (await mkdtemp(join(tmpdir(), 'sluice-redis-')))
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
  const args = await argsIn(folder)
  const command = process.env.SLUICE_REDIS_SERVER ?? 'redis-server'
  const child = spawn(command, [...args, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  const exited = once(child, 'exit').then(async () => {
    running.delete(child)
    if (ownFolder === undefined) await rm(folder, { recursive: true, force: true })
  })
  if (!(await says(child, readyText))) {
    await exited
    return undefined
  }
  child.stdout.resume()
  return {
    port,
    pid: child.pid,
    url: `redis://127.0.0.1:${port}`,
    /** @param {NodeJS.Signals} signal */
    signal: (signal) => child.kill(signal),
    async stop() {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
      await exited
    },
  }
}

function says(child, text) {
  return new Promise((resolve, reject) => {
    let log = ''
    child.once('error', reject)
    child.once('exit', () => resolve(false))
    child.stdout.on('data', function read(data) {
      log += data
      if (!log.includes(text)) return
      child.stdout.off('data', read)
      resolve(true)
    })
  })
}

/** A port that is free now. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
