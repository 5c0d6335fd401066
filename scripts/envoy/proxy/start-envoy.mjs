// A real Envoy as a process, with its ports free ones of loopback.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const LONGEST_MS = 20_000
const LISTENS_NOWHERE_YET = { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } }

/**
 * Starts Envoy with a configuration, and waits until it takes requests. `port` is that of its first listener, `warnings` what
 * it has said about the configuration and since.
 */
export async function startEnvoy(command, configuration) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-proxy-'))
  const [file, admin] = ['envoy.json', 'admin'].map((name) => join(folder, name))
  writeFileSync(file, JSON.stringify({ admin: LISTENS_NOWHERE_YET, ...configuration }))
  const alone = ['--disable-hot-restart', '--concurrency', '1', '--admin-address-path', admin]
  const args = ['--config-path', file, '--log-level', 'warning', ...alone]
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  const warnings = []
  child.stderr.on('data', (data) => warnings.push(...String(data).split('\n').filter(Boolean)))
  const get = async (path) => (await fetch(`http://${readFileSync(admin, 'utf8')}${path}`)).text()
  const envoy = {
    warnings,
    /** What its admin door says at a path. */
    get,
    /** A number of its statistics. */
    async count(name) {
      const text = await get(`/stats?filter=${encodeURIComponent(`^${name}$`)}`)
      return Number(text.split(': ')[1] ?? 0)
    },
    async stop() {
      kill()
      process.off('exit', kill)
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await until('Envoy takes requests', async () => (await get('/ready')).startsWith('LIVE'), child)
    const { listener_statuses: listeners } = JSON.parse(await get('/listeners?format=json'))
    envoy.port = listeners[0].local_address.socket_address.port_value
  } catch (error) {
    await envoy.stop()
    throw new Error(`${error.message}: ${warnings.join('\n')}`)
  }
  return envoy
}

/** Asks again and again until it is so. */
export async function until(what, isSo, child) {
  const end = Date.now() + LONGEST_MS
  while (Date.now() < end && (child?.exitCode ?? null) === null) {
    if (await Promise.resolve(isSo()).catch(() => false)) return
    await pause(20)
  }
  throw new Error(`not so: ${what}`)
}
