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
const results = join(root, 'node_modules/.cache/sluice-test-servers.json')

const args = process.argv.slice(2)
const wanted = Object.keys(servers).filter((name) => args.includes(name))
const vitestArgs = args.filter((arg) => !(arg in servers))

setUp({ build: true, redis: true })
const lines = []
for (const name of wanted.length ? wanted : Object.keys(servers)) lines.push(await testOn(servers[name]))
console.log(lines.join('\n'))

/** Runs the suites on one server. Gives one line that says on which, and how many tests passed. */
async function testOn({ title, version, command }) {
  process.env.SLUICE_REDIS_SERVER = command()
  const found = await runningServer()
  if (found.title !== title || !version.test(found.version))
    fail(
      `${title} ${version.source} was wanted, but ${process.env.SLUICE_REDIS_SERVER} is ${found.title} ${found.version}.`,
    )
  console.log(`\nOn ${title} ${found.version}:`)
  rmSync(results, { force: true })
  const report = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const filters = vitestArgs.some((arg) => !arg.startsWith('-')) ? [] : suites
  const { ok, output } = runTool('vitest', ['run', ...filters, ...vitestArgs, ...report], {
    show: true,
    timeoutMs: MOST_MS,
  })
  if (!ok) fail(`Tests failed on ${title} ${found.version}. ${output}`)
  return `${title} ${found.version}: ${counted(filters.length > 0)}`
}

/** What the server that tests will start says of itself. */
async function runningServer() {
  const server = await startRedis()
  const info = execFileSync('redis-cli', ['-p', `${server.port}`, 'INFO', 'server'], { encoding: 'utf8' })
  await server.stop()
  const field = (name) => new RegExp(`^${name}:(.*?)\\s*$`, 'm').exec(info)?.[1]
  // Valkey also has a redis_version, for old clients.
  const valkey = field('valkey_version')
  return valkey ? { title: 'Valkey', version: valkey } : { title: 'Redis', version: field('redis_version') }
}

function counted(isWhole) {
  const { numPassedTests, numTotalTests, testResults } = JSON.parse(readFileSync(results, 'utf8'))
  if (isWhole && numPassedTests !== numTotalTests) fail(`Only ${numPassedTests} of ${numTotalTests} tests ran.`)
  const titles = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ fullName }) => fullName))
  const series = titles.map((title) => Number(/the Lua .* answers (\d+) random series/.exec(title)?.[1] ?? 0))
  const most = Math.max(0, ...series)
  if (isWhole && most < FEWEST_SERIES) fail(`The Lua was compared on ${most} random series, not ${FEWEST_SERIES}.`)
  return `${numPassedTests} tests passed${most ? `, with ${most} random series of calls in Lua and in TypeScript` : ''}`
}
