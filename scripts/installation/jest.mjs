// Jest and ts-jest in a project of their own, with the configurations of docs/modules.md, and the settings of
// TypeScript 5.9 and 5.8. It installs about 250 packages, so only `npm run test:long` does it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, runNode, runNpm } from '../run-command.mjs'
import { root } from '../workspaces.mjs'
import { checkSettings, SETTINGS, settingsOf58 } from './modules.mjs'

const PACKAGES = [
  ...['jest@30', 'ts-jest@29', '@types/jest@30', '@types/node@20', 'typescript@5.9'],
  ...['typescript-5.8@npm:typescript@5.8', '@babel/plugin-transform-modules-commonjs@7'],
]
const TEST = `test('the clock of a test decides', () => {
  const clock = new ManualClock(0)
  const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }), clock })
  expect(limiter.tryAcquire('a').allowed).toBe(true)
  expect(limiter.tryAcquire('a').allowed).toBe(false)
  clock.advance(1000)
  expect(limiter.tryAcquire('a').allowed).toBe(true)
})
`
const IMPORTS = `import { createLimiter, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
`
const REQUIRES = `const { createLimiter, tokenBucket } = require('sluice')
const { ManualClock } = require('sluice/testing')
`
/** The headings of the configurations, the test that each runs, and whether it needs the flag of Node.js. */
const WAYS = [
  ['Jest with ES modules', 'limits.test.mjs', IMPORTS, true],
  ['Jest with CommonJS', 'limits.test.js', REQUIRES, false],
  ['ts-jest with CommonJS', 'limits.test.ts', IMPORTS, false],
  ['ts-jest with ES modules', 'limits.test.ts', IMPORTS, true],
]

/** `files` are the packed packages. */
export function checkJest(folder, files) {
  const page = readFileSync(join(root, 'docs/modules.md'), 'utf8')
  const project = join(folder, 'jest')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  const install = ['install', ...files, ...PACKAGES, '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  const installed = runNpm(install, { cwd: project })
  if (!installed.ok) fail(`npm install of Jest failed\n${installed.output}`)
  for (const [heading, name, head, needsFlag] of WAYS) {
    const [, config] = /```js\n(.*?)```/s.exec(page.split(`\n### ${heading}\n`)[1] ?? '') ?? []
    if (config === undefined) fail(`docs/modules.md has no configuration under ${heading}`)
    const place = join(project, heading.toLowerCase().replaceAll(' ', '-'))
    mkdirSync(place)
    writeFileSync(join(place, 'jest.config.mjs'), config)
    writeFileSync(join(place, name), head + TEST)
    const flags = needsFlag ? ['--experimental-vm-modules', '--no-warnings'] : []
    const { ok, output } = runNode([...flags, join(project, 'node_modules/jest/bin/jest.js'), '--ci'], { cwd: place })
    if (!ok || !output.includes('1 passed')) fail(`${heading}:\n${output}`)
  }
  const compileBy = (name) => (args) =>
    runNode([join(project, 'node_modules', name, 'bin/tsc'), ...args], { cwd: project })
  const old = [{ module: 'commonjs', moduleResolution: 'node10' }, 'use.ts', 'TS2307']
  checkSettings(project, compileBy('typescript'), [...SETTINGS, old])
  checkSettings(project, compileBy('typescript-5.8'), [...settingsOf58, old])
  return WAYS.length
}
