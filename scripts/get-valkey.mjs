// Valkey for `npm run test:servers`. Debian 12 has it only in its backports.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fail } from './run-command.mjs'
import { unpackPackage } from './unpack-packages.mjs'

const MIRROR = 'http://deb.debian.org/debian'
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** The command that starts Valkey: the one on the PATH, or one that is downloaded once and kept. */
export function getValkey() {
  if (spawnSync('valkey-server', ['--version']).status === 0) return 'valkey-server'
  const suite = codename()
  const from = `deb [signed-by=${KEYRING}] ${MIRROR}`
  console.log('Getting valkey-server ...')
  try {
    return unpackPackage('valkey', {
      package: `valkey-server/${suite}-backports`,
      program: 'usr/bin/valkey-server',
      sources: `${from} ${suite} main\n${from} ${suite}-backports main\n`,
    })
  } catch (error) {
    return fail(error.message)
  }
}

function codename() {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : ''
  const isDebian = /^ID=debian$/m.test(release)
  const name = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1]
  if (!isDebian || !name) fail('Put valkey-server 8 on the PATH: it is downloaded only on Debian.')
  return name
}
