// Tests and benchmarks run against a real redis-server. If there is none, this installs it from the system's packages,
// unless that needs a password.
import { spawnSync } from 'node:child_process'
import { fail } from './run-command.mjs'

const ADVICE =
  'The tests need redis-server 7.0 or newer on the PATH. On Debian or Ubuntu: sudo apt-get install redis-server'

export function installRedis() {
  if (version() !== undefined) return checkVersion()
  console.log('Installing redis-server ...')
  const apt = (...command) => spawnSync(...asRoot(['apt-get', ...command]), { stdio: 'ignore' })
  // Without these a package would start a server of its own, or ask something.
  process.env.DEBIAN_FRONTEND = 'noninteractive'
  process.env.RUNLEVEL = '1'
  if (apt('install', '-y', '--no-install-recommends', 'redis-server').status !== 0) {
    apt('update')
    apt('install', '-y', '--no-install-recommends', 'redis-server')
  }
  if (version() === undefined) fail(ADVICE)
  checkVersion()
}

function asRoot(command) {
  const [program, ...args] = process.getuid?.() === 0 ? command : ['sudo', '-n', '-E', ...command]
  return [program, args]
}

function checkVersion() {
  if (version() < 7) fail(`${ADVICE} (this is version ${version()})`)
}

function version() {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return status === 0 ? Number(/v=(\d+\.\d+)/.exec(stdout)?.[1]) : undefined
}
