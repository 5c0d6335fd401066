// An installed package in programs of every kind: ES modules, CommonJS, and TypeScript with the settings of docs/modules.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, runNode, runTool } from '../run-command.mjs'
import { readManifest } from '../workspaces.mjs'

/** Imports `@nestjs/common`, which is not installed here. */
const NEEDS_NEST = './nest'

const USE = `import { createLimiter, tokenBucket } from 'sluice'
import { clientAddress } from 'sluice/http'
import { rateLimit } from 'sluice/node'
import { redisStore } from 'sluice/redis'
import { ManualClock } from 'sluice/testing'

const clock = new ManualClock(0)
const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }), clock })
const first = limiter.tryAcquire('a').allowed
const second: boolean = limiter.tryAcquire('a').allowed
console.log(first, second, typeof clientAddress, typeof rateLimit, typeof redisStore)
`
const SAID = 'true false function function function'

/** The table of docs/modules.md: the settings, the file, and the error if there is one. */
export const SETTINGS = [
  [{ module: 'nodenext' }, 'use.mts'],
  [{ module: 'nodenext' }, 'use.cts'],
  [{ module: 'node20' }, 'use.mts'],
  [{ module: 'node20' }, 'use.cts'],
  [{ module: 'node16' }, 'use.mts'],
  [{ module: 'node16' }, 'use.cts', 'TS1479'],
  [{ module: 'node18' }, 'use.cts', 'TS1479'],
  [{ module: 'esnext', moduleResolution: 'bundler' }, 'use.mts'],
  [{ module: 'preserve', moduleResolution: 'bundler' }, 'use.mts'],
  [{ module: 'nodenext', strict: false }, 'use.mts'],
  [{ module: 'nodenext', types: [], lib: ['es2023', 'dom'], skipLibCheck: true }, 'use.mts'],
]
/** Settings that TypeScript 5.8 does not have. */
const SINCE_5_9 = ['node20']

/** Checks that every entry point loads by `import` and by `require`, as the same module, and that nothing is written to stderr. */
export function checkLoading(project) {
  const entries = entryPoints()
  const program = (name, lines) => {
    writeFileSync(join(project, name), lines.join('\n'))
    const { ok, output } = runNode([name], { cwd: project })
    if (!ok || output !== 'done') fail(`${name} in an installation:\n${output}`)
  }
  program('all.mjs', [...entries.map((entry) => `await import('${entry}')`), "console.log('done')"])
  program('all.cjs', [
    'const assert = require("node:assert")',
    `const entries = ${JSON.stringify(entries)}`,
    'const required = entries.map((entry) => require(entry))',
    'Promise.all(entries.map((entry) => import(entry))).then((imported) => {',
    '  for (const [at, module] of imported.entries())',
    '    for (const name of Object.keys(module)) assert.strictEqual(required[at][name], module[name], entries[at] + " " + name)',
    '  console.log("done")',
    '})',
  ])
  return entries.length
}

function entryPoints() {
  const ofLibrary = Object.keys(readManifest('packages/sluice').exports)
  const modules = ofLibrary.filter((entry) => !entry.endsWith('.json') && entry !== NEEDS_NEST)
  return [...modules.map((entry) => entry.replace(/^\./, 'sluice')), 'sluice-service']
}

/** The settings that TypeScript 5.8 has. */
export const settingsOf58 = SETTINGS.filter(([{ module }]) => !SINCE_5_9.includes(module))

/** Compiles a program with each setting, runs what was compiled, and expects the errors that the documentation tells. */
export function checkSettings(project, compile = withOurs(project), settings = SETTINGS) {
  for (const file of ['use.mts', 'use.cts', 'use.ts']) writeFileSync(join(project, file), USE)
  for (const [at, [options, file, error]] of settings.entries()) {
    const what = `${JSON.stringify(options)} in ${file}`
    const out = `out-${at}`
    mkdirSync(join(project, out), { recursive: true })
    const compilerOptions = { target: 'es2022', strict: true, types: ['node'], outDir: out, rootDir: '.', ...options }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
    const { ok, output } = compile(['-p', '.', '--pretty', 'false'])
    if (error === undefined ? !ok : !output.includes(error)) fail(`TypeScript with ${what}:\n${output}`)
    if (error !== undefined) continue
    const ran = runNode([join(out, file.replace('.mts', '.mjs').replace('.cts', '.cjs'))], { cwd: project })
    if (ran.output !== SAID) fail(`compiled with ${what}, it says:\n${ran.output}`)
  }
  return settings.length
}

function withOurs(project) {
  return (args) => runTool('typescript', args, { cwd: project })
}
