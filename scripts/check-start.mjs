// Runs `npm start` as a user does, asks the service for a decision and stops it by its id. This clone is built, so the service
// only starts: 0.8 s on two busy cores, and bounded by 3 s, so that another program on the machine does not fail it.
// With `--clone` it first clones the last commit into an empty folder, where the first start also installs and builds: that has
// to serve within 60 s.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, run } from './run-command.mjs'
import { root } from './workspaces.mjs'

const FIRST_MS = 60_000
const SECOND_MS = 3_000
const REQUEST = JSON.stringify({ attributes: { merchant: 'acct_1' } })

let folder = root
let firstText = ''
if (process.argv.includes('--clone')) {
  const parent = mkdtempSync(join(tmpdir(), 'sluice-start-'))
  process.once('exit', () => rmSync(parent, { recursive: true, force: true, maxRetries: 10 }))
  folder = join(parent, 'sluice')
  const startedMs = performance.now()
  const cloned = run('git', ['clone', '--quiet', root, folder])
  if (!cloned.ok) fail(cloned.output)
  const firstMs = performance.now() - startedMs + (await start(FIRST_MS))
  if (firstMs > FIRST_MS) fail(`the first start took ${seconds(firstMs)}, which must be under ${seconds(FIRST_MS)}`)
  firstText = ` ${seconds(firstMs)} after a clone, then`
}
console.log(`serves${firstText} in ${seconds(await start(SECOND_MS))}`)

/** Resolves with the milliseconds until the service has decided. It has ended then. */
async function start(boundMs) {
  const beganMs = performance.now()
  const options = { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true }
  const npm = spawn('npm', ['start', '--', '--http', '127.0.0.1:0'], options)
  // The service inherits both pipes, so they close when it has ended, not when npm has.
  const ended = new Promise((resolve) => npm.once('close', () => resolve('ended')))
  // After a failure, an installation may still run: npm has a process group of its own, which ends as a whole.
  const kill = () => process.kill(-npm.pid, 'SIGKILL')
  process.prependOnceListener('exit', kill)
  let output = ''
  const url = new Promise((resolve) => {
    const read = (text) => {
      output += text
      const [, found] = /Sluice decides at (\S+)/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    }
    for (const stream of [npm.stdout, npm.stderr]) stream.setEncoding('utf8').on('data', read)
  })
  const tooLate = setTimeout(() => fail(`npm start does not serve within ${seconds(boundMs)}\n${output}`), boundMs)
  const served = await Promise.race([url, ended])
  if (served === 'ended') fail(`npm start ended before it served\n${output}`)
  clearTimeout(tooLate)
  const response = await fetch(`${served}/v1/check`, { method: 'POST', body: REQUEST })
  const { allowed } = await response.json()
  const tookMs = performance.now() - beganMs
  if (allowed !== true) fail(`the service answered ${response.status}, allowed ${allowed}\n${output}`)
  npm.kill('SIGTERM')
  await ended
  process.off('exit', kill)
  return tookMs
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}
