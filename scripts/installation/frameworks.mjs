// The adapters of the packed library in projects of their own, one with the oldest frameworks and one with newer ones: their
// declarations compile, those of Sluice included (`skipLibCheck` is off), and a CommonJS application of Nest with decorators runs,
// with the settings that docs/modules.md tells to projects made before Nest 11. It installs about 200 packages, so only
// `npm run test:long` does it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, runNode, runNpm, runTool } from '../run-command.mjs'

const BOTH = ['rxjs@7', 'reflect-metadata@0.2', 'hono@4', '@types/node@20']
const PROJECTS = {
  'the oldest frameworks': [
    ...BOTH,
    ...nest(10),
    ...['express@4', '@types/express@4', 'fastify@4', 'koa@2', '@types/koa@2'],
  ],
  'Nest 11 and newer frameworks': [
    ...BOTH,
    ...nest(11),
    ...['express@5', '@types/express@5', 'fastify@5', 'koa@3', '@types/koa@3'],
  ],
}

const ADAPTERS = `import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { createPolicy, fixedWindow } from 'sluice'
import { rateLimit as onExpress } from 'sluice/express'
import { rateLimit as onFastify, routeLimit } from 'sluice/fastify'
import { rateLimit as onFetch } from 'sluice/fetch'
import { rateLimit as onHono } from 'sluice/hono'
import { rateLimit as onKoa } from 'sluice/koa'

const limit = fixedWindow({ quota: 5, window: '1m' })
const policy = createPolicy({ levels: [{ name: 'user', key: ['user'], limit }] })

export const one = express().use(onExpress({ policy, attributes: (request) => ({ user: request.get('x-user') }) }))
export const two = new Koa().use(onKoa({ policy, attributes: (context) => ({ user: context.get('x-user') }) }))
export const three = new Hono().use(onHono({ policy, attributes: (c) => ({ user: c.req.header('x-user') }) }))
export const four = fastify()
four.register(onFastify({ limit, key: (request) => request.ip }))
const rule = routeLimit({ policy, attributes: (request) => ({ user: request.headers['x-user'] }) })
four.get('/', { config: { rateLimit: rule } }, () => 'ok')
export const five = onFetch({ limit, address: () => '192.0.2.1' })(() => new Response('ok'))
`

const APPLICATION = `import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { fixedWindow } from 'sluice'
import { RateLimit, RateLimitModule } from 'sluice/nest'

const limit = fixedWindow({ quota: 3, window: '1h' })

@Controller()
class Shop {
  @RateLimit({ limit: fixedWindow({ quota: 1, window: '1h' }), name: 'search' })
  @Get('search')
  search() {
    return 'found'
  }
}

@Module({ imports: [RateLimitModule.forRootAsync({ useFactory: async () => ({ limit, name: 'all' }) })], controllers: [Shop] })
class Application {}

async function main() {
  const app = await NestFactory.create(Application, { logger: false })
  await app.listen(0, '127.0.0.1')
  const url = await app.getUrl()
  const seen: (number | string | null)[] = []
  for (const path of ['/search', '/search', '/nothing', '/nothing', '/nothing']) {
    const { status, headers } = await fetch(url + path)
    seen.push(status, headers.get('content-type')!.split(';')[0])
  }
  console.log(seen.join(' '))
  await app.close()
}
void main()
`
const SAID = [
  ...['200 text/html', '429 application/problem+json', '404 application/json'],
  ...['404 application/json', '429 application/problem+json'],
].join(' ')

const compilerOptions = {
  ...{ module: 'nodenext', target: 'es2022', types: ['node'], strict: true, outDir: 'out', rootDir: '.' },
  ...{ experimentalDecorators: true, emitDecoratorMetadata: true, esModuleInterop: true },
}

/** `files` are the packed packages. */
export function checkFrameworks(folder, files) {
  for (const [title, packages] of Object.entries(PROJECTS)) {
    const project = join(folder, title.replaceAll(' ', '-'))
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true }')
    const args = ['install', ...files, ...packages, '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
    const installed = runNpm(args, { cwd: project })
    if (!installed.ok) fail(`npm install of ${title} failed\n${installed.output}`)
    writeFileSync(join(project, 'adapters.mts'), ADAPTERS)
    writeFileSync(join(project, 'application.ts'), APPLICATION)
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', '*.mts'] }))
    const { output } = runTool('typescript', ['-p', '.', '--pretty', 'false'], { cwd: project })
    // Declarations of other packages have errors of their own, as those of Koa have.
    const errors = output.split('\n').filter((line) => /error TS/.test(line) && !/^node_modules\/(?!sluice)/.test(line))
    if (errors.length > 0) fail(`TypeScript with ${title}:\n${output}`)
    const ran = runNode(['out/application.js'], { cwd: project, timeoutMs: 60_000 })
    if (ran.output !== SAID) fail(`an application with ${title} says:\n${ran.output}`)
  }
  return Object.keys(PROJECTS).length
}

function nest(version) {
  return ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${version}`)
}
