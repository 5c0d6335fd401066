// `npm test`: makes the clone ready, runs every check, one after another, and lists at the end those that failed. A check
// that passes prints one line, a check that fails its whole output; vitest always prints its own. Arguments after `--` go
// to vitest.
import { fail, runNode, runTool } from './run-command.mjs'
import { setUp } from './set-up.mjs'
import { packageFolders, readManifest } from './workspaces.mjs'

const published = () => packageFolders().filter((folder) => !readManifest(folder).private)

const checks = [
  ['biome', () => quiet(runTool('@biomejs/biome', ['check', '.', '--error-on-warnings']))],
  ['embedded Lua', () => runNode(['scripts/embed-lua.mjs', '--check'])],
  ['types of the tests', () => quiet(runTool('typescript', ['--noEmit', '-p', 'tsconfig.tests.json']))],
  ['import direction', () => runNode(['scripts/check-imports.mjs'])],
  ['shape of sources', () => runNode(['scripts/check-shape.mjs'])],
  ['exports and files', () => runNode(['scripts/check-exports.mjs'])],
  ['examples in docs', () => runNode(['scripts/check-docs.mjs'])],
  ['browser bundle', () => runNode(['scripts/check-browser.mjs'])],
  ['publint', () => quiet(forEach(published(), (folder) => runTool('publint', [folder, '--strict'])))],
  ['attw', () => quiet(forEach(published(), attw))],
  ['knip', () => quiet(runTool('knip', []))],
  ['vitest', () => runTool('vitest', ['run', ...process.argv.slice(2)], { show: true })],
]

setUp({ build: 'always', redis: true, proxies: true })
const startedMs = performance.now()
const failed = checks.filter((check) => !runCheck(check)).map(([name]) => name)
if (failed.length) fail(`\nFAILED: ${failed.join(', ')} (${failed.length} of ${checks.length} checks)`)
console.log(`\nAll ${checks.length} checks passed in ${seconds(startedMs)}.`)

function runCheck([name, check]) {
  if (name === 'vitest') console.log(`     ${name}`)
  const beganMs = performance.now()
  const { ok, output } = check()
  console.log(
    [ok ? 'ok  ' : 'FAIL', name.padEnd(20), seconds(beganMs).padStart(7), ok ? ` ${output}` : ''].join(' ').trimEnd(),
  )
  if (!ok && output) console.log(output.replace(/^/gm, '     '))
  return ok
}

function attw(folder) {
  return runTool('@arethetypeswrong/cli', ['--pack', folder, '--profile', 'esm-only', '--no-color'])
}

function forEach(items, run) {
  const results = items.map(run)
  return { ok: results.every(({ ok }) => ok), output: results.map(({ output }) => output).join('\n') }
}

/** Drops the output of a tool that succeeded. */
function quiet(result) {
  return result.ok ? { ok: true, output: '' } : result
}

function seconds(sinceMs) {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
}
