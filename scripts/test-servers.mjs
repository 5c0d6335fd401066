// `npm run test:servers`: runs the tests that need a server on Redis 7.0 and then on Valkey 8. It gets both servers,
// asks each running server for its name and version, and fails if that is not what was wanted, if a test fails or is
// skipped, or if the Lua was compared with the TypeScript on fewer than 1,000 random series of calls.
// Arguments: `redis` or `valkey` runs on that server only; all others go to vitest.
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { getValkey } from './get-valkey.mjs'
import { startRedis } from './redis-server.mjs'
import { fail, runTool } from './run-command.mjs'
import { setUp } from './set-up.mjs'
import { root } from './workspaces.mjs'

const servers = {
  redis: { title: 'Redis', version: /^7\.0\./, command: () => 'redis-server' },
  valkey: { title: 'Valkey', version: /^8\./, command: getValkey },
}
/** Parts of the paths of the tests that start a server. */
const suites = ['/redis/', 'explain-redis']
const MOST_MS = 1_200_000
const FEWEST_SERIES = 1_000
const report = join(root, 'node_modules/.cache/sluice-test-servers.json')

const args = process.argv.slice(2)
const wanted = Object.keys(servers).filter((name) => args.includes(name))
const vitestArgs = args.filter((arg) => !(arg in servers))

setUp({ build: 'always', redis: true })
// Tests with a longer form do all of their runs here.
process.env.SLUICE_LONG = '1'
const results = []
for (const name of wanted.length ? wanted : Object.keys(servers)) results.push(await testOn(servers[name]))
console.log(results.map(({ text }) => text).join('\n'))
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1

/** Runs the suites on one server. `text` is one line with the server and what happened. */
async function testOn({ title, version, command }) {
  process.env.SLUICE_REDIS_SERVER = command()
  const found = await runningServer()
  if (found.title !== title || !version.test(found.version))
    fail(
      `${title} ${version.source} was wanted, but ${process.env.SLUICE_REDIS_SERVER} is ${found.title} ${found.version}.`,
    )
  console.log(`\nOn ${title} ${found.version}:`)
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const filters = vitestArgs.some((arg) => !arg.startsWith('-')) ? [] : suites
  const { ok, output } = runTool('vitest', ['run', ...filters, ...vitestArgs, ...reporters], {
    show: true,
    timeoutMs: MOST_MS,
  })
  const { problem, passed } = ok ? readReport(filters === suites) : { problem: `tests failed. ${output}` }
  return { ok: problem === undefined, text: `${title} ${found.version}: ${problem ?? `${passed} tests passed`}` }
}

/** The name and version of the server that the tests will start, as the running server reports them. */
async function runningServer() {
  const server = await startRedis()
  const info = execFileSync('redis-cli', ['-p', `${server.port}`, 'INFO', 'server'], { encoding: 'utf8' })
  await server.stop()
  const field = (name) => new RegExp(`^${name}:(.*?)\\s*$`, 'm').exec(info)?.[1]
  // Valkey also has a redis_version, for old clients.
  const valkey = field('valkey_version')
  return valkey ? { title: 'Valkey', version: valkey } : { title: 'Redis', version: field('redis_version') }
}

/** Reads vitest's report. In a run of all suites, skipped tests or too few random series are a problem. */
function readReport(isWhole) {
  const { numPassedTests: passed, numTotalTests: total, testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const titles = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ title }) => title))
  const series = Math.max(0, ...titles.map((title) => Number(/(\d+) random series/.exec(title)?.[1] ?? 0)))
  if (isWhole && passed !== total) return { problem: `only ${passed} of ${total} tests ran` }
  if (isWhole && series < FEWEST_SERIES) return { problem: `the Lua was compared on ${series} random series only` }
  return { passed }
}
