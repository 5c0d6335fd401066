// `npm run test:long`: runs the checks and tests that have a longer form than in `npm test`. Arguments after `--` go to vitest.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, runNode, runTool } from './run-command.mjs'
import { setUp } from './set-up.mjs'
import { root } from './workspaces.mjs'

/** A test with a longer form asks for `isLong`, or does `RUNS`. */
const tests = readdirSync(join(root, 'packages'), { recursive: true })
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map((name) => join('packages', name))
  .filter((name) => /\b(isLong|RUNS)\b/.test(readFileSync(join(root, name), 'utf8')))
if (tests.length === 0) fail('No test has a longer form.')
setUp({ build: 'always', redis: true })
process.env.SLUICE_LONG = '1'
const start = runNode(['scripts/check-start.mjs', '--clone'])
console.log(`npm start ${start.output}`)
const installation = runNode(['scripts/check-installation.mjs', '--long'])
console.log(`installation: ${installation.output}`)
const { ok } = runTool('vitest', ['run', ...tests, ...process.argv.slice(2)], { show: true })
process.exitCode = ok && start.ok && installation.ok ? 0 : 1
