/** Compiles small programs as a user would, against the built package, all of them in one run of the compiler. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runToolAside } from '../../../../scripts/run-command.mjs'

/** Inside the repository, so that programs find the packages that it has installed. */
const FOLDER = fileURLToPath(new URL('../../../../node_modules/.cache/sluice-types', import.meta.url))

const COMPILER_OPTIONS = {
  target: 'ES2022',
  module: 'NodeNext',
  lib: ['ES2023', 'ESNext.Disposable'],
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  moduleDetection: 'force',
  experimentalDecorators: true,
}

/** Every program begins with these imports. */
const IMPORTS = `import * as sluice from 'sluice'
import { concurrency, createLimiter, createLimiters, createPolicy, createShaper, fixedWindow, leakyBucket, memoryStore, parseDuration, parseLimit, parseRate, slidingLog, slidingWindow, systemClock, tokenBucket } from 'sluice'
import { fastify as fastifyServer } from 'fastify'
import { shapedFetch } from 'sluice/http'
import { rateLimit as express, type ExpressOptions } from 'sluice/express'
import { rateLimit as fastify, routeLimit, type FastifyOptions } from 'sluice/fastify'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { rateLimit as hono } from 'sluice/hono'
import { rateLimit as koa } from 'sluice/koa'
import { rateLimit as nest, RateLimit, RateLimitModule, type NestOptions } from 'sluice/nest'
import { rateLimit as node } from 'sluice/node'
declare const store: sluice.AsyncStore
declare const text: string
declare const count: number
const limit = tokenBucket({ capacity: 20, refill: '5/s' })
const policy = createPolicy({ levels: [{ name: 'user', key: ['user', 'ip'], when: { method: 'POST' }, limit, cost: 'tokens' }] })
const known = createPolicy({ levels: [{ name: 'all', key: ['ip'], when: { method: 'POST', path: '/a' }, limit }] })
const anyStore = createPolicy({ name: 'p', levels: [{ name: 'user', key: ['user'], limit, cost: 'tokens' }], store: text === '' ? store : memoryStore() })
const fastifyApp = fastifyServer()
declare const anyLevels: sluice.Level[]
const unknown = createPolicy({ levels: anyLevels })
`
const FIRST_LINE = IMPORTS.split('\n').length

/** Where a program is wrong, and what the compiler says about it, in all of its lines. */
export interface Complaint {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Compiles the programs and returns the complaints about each, in the same order. Lines are counted from 1. */
export async function compilePrograms(programs: readonly string[]): Promise<readonly (readonly Complaint[])[]> {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  await writeFile(join(FOLDER, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(FOLDER, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }),
  )
  await Promise.all(programs.map((program, i) => writeFile(join(FOLDER, `program-${i}.ts`), IMPORTS + program)))
  const { output } = await runToolAside('typescript', ['-p', '.', '--pretty', 'false'], { cwd: FOLDER })
  const complaints: Complaint[][] = programs.map(() => [])
  for (const complaint of output.split(/\n(?=\S)/)) {
    const match = /^program-(\d+)\.ts\((\d+),(\d+)\): error TS\d+: (.*)$/s.exec(complaint)
    if (match === null && complaint.trim() !== '') throw new Error(`the compiler says: ${complaint}`)
    if (match === null) continue
    const [program, line, column] = match.slice(1, 4).map(Number)
    complaints[program].push({ line: line - FIRST_LINE + 1, column, message: match[4] })
  }
  return complaints
}
