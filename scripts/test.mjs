// `npm test`: makes the clone ready, runs every check, two at a time, then vitest, and lists at the end those that failed. A
// check that passes prints one line, a check that fails its whole output; vitest always prints its own. Arguments after `--`
// go to vitest.
import { fail, runNodeAside, runTool, runToolAside } from './run-command.mjs'
import { setUp } from './set-up.mjs'
import { publishedFolders } from './workspaces.mjs'

/** It bounds a time, so it runs by itself. */
const start = ['npm start', () => runNodeAside(['scripts/check-start.mjs'])]
/** The longest first, so that a long check does not run alone at the end. */
const checks = [
  ['types of the tests', () => quiet(forEach(['tsconfig.tests.json', 'packages/page/test'], compile))],
  ['installation', () => runNodeAside(['scripts/check-installation.mjs'])],
  ['examples in docs', () => runNodeAside(['scripts/check-docs.mjs'])],
  ['attw', () => quiet(forEach(publishedFolders(), attw))],
  ['knip', () => quiet(runToolAside('knip', []))],
  ['publint', () => quiet(forEach(publishedFolders(), (folder) => runToolAside('publint', [folder, '--strict'])))],
  ['biome', () => quiet(runToolAside('@biomejs/biome', ['check', '.', '--error-on-warnings']))],
  ['shape of sources', () => runNodeAside(['scripts/check-shape.mjs'])],
  ['import direction', () => runNodeAside(['scripts/check-imports.mjs'])],
  ['embedded Lua', () => runNodeAside(['scripts/embed-lua.mjs', '--check'])],
  ['exports and files', () => runNodeAside(['scripts/check-exports.mjs'])],
  ['browser bundle', () => runNodeAside(['scripts/check-browser.mjs'])],
]
const tests = ['vitest', () => runTool('vitest', ['run', ...process.argv.slice(2)], { show: true })]

setUp({ build: 'always', redis: true, proxies: true, browser: true })
const startedMs = performance.now()
const failed = []
const waiting = [...checks]
await runCheck(start)
await Promise.all([runWaiting(), runWaiting()])
console.log('     vitest')
await runCheck(tests)
if (failed.length) fail(`\nFAILED: ${failed.join(', ')} (${failed.length} of ${checks.length + 2} checks)`)
console.log(`\nAll ${checks.length + 2} checks passed in ${seconds(startedMs)}.`)

async function runWaiting() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await runCheck(next)
}

async function runCheck([name, check]) {
  const beganMs = performance.now()
  const { ok, output } = await check()
  console.log(
    [ok ? 'ok  ' : 'FAIL', name.padEnd(20), seconds(beganMs).padStart(7), ok ? ` ${output}` : ''].join(' ').trimEnd(),
  )
  if (!ok && output) console.log(output.replace(/^/gm, '     '))
  if (!ok) failed.push(name)
}

function compile(project) {
  return runToolAside('typescript', ['--noEmit', '-p', project])
}

function attw(folder) {
  return runToolAside('@arethetypeswrong/cli', ['--pack', folder, '--profile', 'esm-only', '--no-color'])
}

async function forEach(items, run) {
  const results = []
  for (const item of items) results.push(await run(item))
  return { ok: results.every(({ ok }) => ok), output: results.map(({ output }) => output).join('\n') }
}

/** Drops the output of a tool that succeeded. */
async function quiet(running) {
  const result = await running
  return result.ok ? { ok: true, output: '' } : result
}

function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
}
