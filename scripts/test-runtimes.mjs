// `npm run test:runtimes`: runs the contract of stores, in memory and on Redis, the suites of all adapters and those of the
// service's HTTP server, gRPC server and worker threads on Node.js 20, 22, 24 and 26; the contract and `sluice/fetch` on Bun and Deno; and
// the contract on Node.js 22.11, which cannot `require` ES modules. It gets the runtimes from the npm registry.
// Arguments: `22`, `bun` and so on run on that runtime only; all others go to vitest.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startRedis } from './redis-server.mjs'
import { fail, run, runTool } from './run-command.mjs'
import { getBun, getDeno, getNode } from './runtimes/get-runtime.mjs'
import { setUp } from './set-up.mjs'
import { readManifest, root } from './workspaces.mjs'

const MOST_MS = 1_200_000
const SUITES = [
  '.contract.test',
  'packages/sluice/test/http/adapters/',
  'packages/service/test/server/',
  'packages/service/test/serve/threads/',
  'packages/service/test/grpc/',
  'packages/service/test/envoy/',
]
const RUNTIMES = {
  20: () => onNode('20', /^v20\./),
  22: () => onNode('22', /^v22\./),
  24: () => onNode('24', /^v24\./),
  26: () => onNode('26', /^v26\./),
  22.11: onOldNode,
  bun: async () => onOther('Bun', getBun(), []),
  deno: async () => onOther('Deno', getDeno(), ['run', '--quiet', '--no-lock', '--allow-all']),
}
const report = join(root, 'node_modules/.cache/sluice-test-runtimes.json')
const contract = join(root, 'scripts/runtimes/contract.mjs')

const args = process.argv.slice(2)
const wanted = Object.keys(RUNTIMES).filter((name) => args.includes(name))
const vitestArgs = args.filter((arg) => !(arg in RUNTIMES))

setUp({ build: 'always', redis: true })
const results = []
for (const name of wanted.length > 0 ? wanted : Object.keys(RUNTIMES)) results.push(await RUNTIMES[name]())
console.log(`\n${results.map(({ text }) => text).join('\n')}`)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

/** Runs the suites, and loads every entry point by `require`. */
function onNode(version, pattern) {
  const node = getNode(version)
  const found = run(node, ['--version']).output
  if (!pattern.test(found)) fail(`Node.js ${version} was wanted, but ${node} is ${found}.`)
  console.log(`\nOn Node.js ${found}:`)
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const filters = vitestArgs.some((arg) => !arg.startsWith('-')) ? [] : SUITES
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const { ok } = run(node, [vitest, 'run', ...filters, ...vitestArgs, ...reporters], {
    show: true,
    timeout: MOST_MS,
    cwd: root,
  })
  const { numPassedTests: passed } = ok ? JSON.parse(readFileSync(report, 'utf8')) : {}
  const required = run(node, ['-e', requiring()], { cwd: root })
  const problem = ok ? required.output.replace(/^required$/, '') : 'tests failed'
  return { ok: problem === '', text: `Node.js ${found}: ${problem || `${passed} tests passed, require works`}` }
}

function requiring() {
  const entries = Object.keys(readManifest('packages/sluice').exports).map((entry) => entry.replace(/^\./, 'sluice'))
  return [...entries.map((entry) => `require('${entry}')`), "console.log('required')"].join('\n')
}

/** A Node.js that runs ES modules and cannot `require` them, as docs/modules.md says. */
function onOldNode() {
  const node = getNode('22.11')
  const { ok, output } = run(node, [contract], { cwd: root, timeout: MOST_MS })
  const required = run(node, ['-e', "require('sluice')"], { cwd: root })
  const isRefused = !required.ok && required.output.includes('ERR_REQUIRE_ESM')
  const said = isRefused
    ? 'require throws ERR_REQUIRE_ESM'
    : `require does not throw ERR_REQUIRE_ESM: ${required.output}`
  return { ok: ok && isRefused, text: `Node.js ${run(node, ['--version']).output}: ${output}, ${said}` }
}

/** Runs the contract, with a Redis, and then `sluice/fetch` behind the runtime's own server. */
async function onOther(title, command, before) {
  const server = await startRedis()
  process.env.SLUICE_TEST_REDIS = String(server.port)
  process.env.DENO_NO_UPDATE_CHECK = '1'
  const kept = run(command, [...before, contract], { cwd: root, timeout: MOST_MS })
  await server.stop()
  process.env[`SLUICE_${title.toUpperCase()}`] = command
  const served = runTool('vitest', ['run', `packages/sluice/test/http/runtimes/${title.toLowerCase()}`], { show: true })
  const [version] = /\d+\.\d+\.\d+/.exec(run(command, ['--version']).output) ?? ['']
  const said = served.ok ? 'sluice/fetch works behind its server' : 'tests of sluice/fetch failed'
  return { ok: kept.ok && served.ok, text: `${title} ${version}: ${kept.output}, ${said}` }
}
