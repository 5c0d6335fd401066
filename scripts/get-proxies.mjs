// nginx, Caddy and HAProxy for the tests of the decision service: the programs on this system, or else those of the packages
// of Debian and Ubuntu. A program that cannot be had fails the tests that need it, and no other.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { unpackedCommand, unpackPackage } from './unpack-packages.mjs'

const PROXIES = {
  nginx: { program: 'usr/sbin/nginx', version: ['-v'] },
  caddy: { program: 'usr/bin/caddy', version: ['version'] },
  haproxy: { program: 'usr/sbin/haproxy', version: ['-v'] },
}

/** Gets the proxies that this system lacks. */
export function getProxies() {
  for (const [name, { program }] of Object.entries(PROXIES)) {
    if (findProxy(name) !== undefined) continue
    console.log(`Getting ${name} ...`)
    try {
      unpackPackage(name, { package: name, program })
    } catch (error) {
      console.error(`${error.message.trimEnd()}\nThe tests of ${name} will fail: put it on the PATH.`)
    }
  }
}

/**
 * The command that starts a proxy. Throws if there is none.
 * @param {'nginx' | 'caddy' | 'haproxy'} name
 */
export function proxyCommand(name) {
  const command = findProxy(name)
  if (command !== undefined) return command
  throw new Error(`${name} is not on the PATH; on Debian and Ubuntu, npm test gets it without installing it`)
}

/** Also looks where Debian puts servers, which the PATH of a user may lack. */
function findProxy(name) {
  const { program, version } = PROXIES[name]
  const unpacked = unpackedCommand(name, program)
  const candidates = existsSync(unpacked) ? [name, `/${program}`, unpacked] : [name, `/${program}`]
  return candidates.find((command) => spawnSync(command, version).status === 0)
}
