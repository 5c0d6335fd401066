/** One application with the same routes in every framework. Its handlers answer with the names of their routes. */
import 'reflect-metadata'
import type { IncomingMessage, Server } from 'node:http'
import { posix } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import Router from '@koa/router'
import { All, Controller, type INestApplication, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express5, { type Express, type Response as ExpressResponse } from 'express'
// @ts-expect-error there are types for one version only
import express4 from 'express4'
import { type FastifyInstance, fastify as fastify5 } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { Hono } from 'hono'
import Koa3 from 'koa'
// @ts-expect-error there are types for one version only
import Koa2 from 'koa2'
import { type ExpressOptions, rateLimit as expressLimit } from 'sluice/express'
import { rateLimit as fastifyLimit } from 'sluice/fastify'
import { type FetchOptions, rateLimit as fetchLimit } from 'sluice/fetch'
import { type HonoOptions, rateLimit as honoLimit } from 'sluice/hono'
import { type KoaOptions, rateLimit as koaLimit } from 'sluice/koa'
import { RateLimitModule } from 'sluice/nest'
import { type NodeOptions, rateLimit as nodeLimit } from 'sluice/node'
import type { RunningApp } from '../adapters/app.js'
import { running, serve } from '../adapters/servers.js'
import { type RouteName, routeLimits, routePolicy } from './routes.js'

/** How an application is limited, unless by limits of routes. */
function byPolicy() {
  return { policy: routePolicy() }
}

function startExpress(express: () => Express, limits: ExpressOptions = byPolicy()): Promise<RunningApp> {
  const app = express()
  const answer = (route: RouteName) => (_: unknown, response: ExpressResponse) => void response.send(route)
  app.use(expressLimit(limits))
  app.use('/graphql', answer('graphql'))
  app.all('/api/search/:term', answer('search'))
  app.all('/v1/charges', answer('charges'))
  app.all('/Report', answer('report'))
  app.all('/health', answer('health'))
  app.use('/static', answer('static'))
  app.all('/:tenant/login', answer('login'))
  app.all('/:item', answer('item'))
  app.use(answer('other'))
  app.use((_error: unknown, _request: unknown, response: ExpressResponse, _next: unknown) => {
    response.status(400).send('error')
  })
  return serve(app)
}

/** Everything that Fastify can be told to be lenient about. */
const LENIENT = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false }

async function startFastify(app: FastifyInstance): Promise<RunningApp> {
  app.register(fastifyLimit({ policy: routePolicy() }))
  const answer = (route: RouteName) => async () => route
  for (const path of ['/graphql', '/graphql/*']) app.all(path, answer('graphql'))
  app.all('/api/search/:term', answer('search'))
  app.all('/v1/charges', answer('charges'))
  app.all('/Report', answer('report'))
  app.all('/health', answer('health'))
  for (const path of ['/static', '/static/*']) app.all(path, answer('static'))
  app.all('/:tenant/login', answer('login'))
  app.all('/:item', answer('item'))
  app.all('/*', answer('other'))
  await app.ready()
  return running(app.server)
}

function startKoa(Koa: typeof Koa3, http2 = false, limits: KoaOptions = byPolicy()): Promise<RunningApp> {
  const app = new Koa()
  app.silent = true
  const router = new Router()
  const answer = (route: RouteName) => (context: { body: unknown }) => {
    context.body = route
  }
  app.use(koaLimit(limits))
  router.all('/graphql{/*rest}', answer('graphql'))
  router.all('/api/search/:term', answer('search'))
  router.all('/v1/charges', answer('charges'))
  router.all('/Report', answer('report'))
  router.all('/health', answer('health'))
  router.all('/static{/*rest}', answer('static'))
  router.all('/:tenant/login', answer('login'))
  router.all('/:item', answer('item'))
  app.use(router.routes() as never)
  app.use(async (context) => {
    context.body ??= 'other'
  })
  return serve(app.callback(), http2)
}

function startHono(app: Hono, limits: HonoOptions = byPolicy()): Promise<RunningApp> {
  app.use(honoLimit(limits))
  for (const [path, route] of [
    ['/graphql/*', 'graphql'],
    ['/api/search/:term', 'search'],
    ['/v1/charges', 'charges'],
    ['/Report', 'report'],
    ['/health', 'health'],
    ['/static/*', 'static'],
    ['/:tenant/login', 'login'],
    ['/:item', 'item'],
    ['*', 'other'],
  ]) {
    app.all(path, (context) => context.text(route))
  }
  return running(createAdaptorServer({ fetch: app.fetch }) as Server)
}

/** Decorators are functions, and the tests are compiled by a tool that does not know those of Nest. */
function controller(wildcard: string): new () => object {
  class AppController {
    graphql() {
      return 'graphql'
    }
    search() {
      return 'search'
    }
    charges() {
      return 'charges'
    }
    report() {
      return 'report'
    }
    health() {
      return 'health'
    }
    static() {
      return 'static'
    }
    login() {
      return 'login'
    }
    item() {
      return 'item'
    }
    other() {
      return 'other'
    }
  }
  const { prototype } = AppController
  for (const [name, path] of [
    ['graphql', ['graphql', `graphql/${wildcard}`]],
    ['search', 'api/search/:term'],
    ['charges', 'v1/charges'],
    ['report', 'Report'],
    ['health', 'health'],
    ['static', ['static', `static/${wildcard}`]],
    ['login', ':tenant/login'],
    ['item', ':item'],
    ['other', wildcard],
  ] as const) {
    All(path as string)(prototype, name, Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor)
  }
  Controller()(AppController)
  return AppController
}

async function startNest(adapter?: FastifyAdapter): Promise<RunningApp> {
  class AppModule {}
  const controllers = [controller(adapter === undefined ? '*rest' : '*')]
  Module({ imports: [RateLimitModule.forRoot({ policy: routePolicy() })], controllers })(AppModule)
  const app: INestApplication =
    adapter === undefined
      ? await NestFactory.create(AppModule, { logger: false })
      : await NestFactory.create(AppModule, adapter as never, { logger: false })
  await app.init()
  await (app.getHttpAdapter().getInstance() as { ready?: () => Promise<void> }).ready?.()
  return running(app.getHttpServer() as Server)
}

/** Routers written by hand, each with its own idea of a path. */
const OWN_PATHS = {
  'the path of a URL': (url: string) => new URL(url, 'http://localhost').pathname,
  'the path of a URL, decoded': (url: string) => decodeURI(new URL(url, 'http://localhost').pathname),
  'all before the question mark': (url: string) => url.split('?')[0],
  'all before the question mark, in small letters': (url: string) => url.split('?')[0].toLowerCase(),
  'a decoded path, made normal': (url: string) => posix.normalize(decodeURIComponent(url.split('?')[0])),
} as const

function routeOf(path: string): RouteName {
  if (/^\/graphql(\/|$)/.test(path)) return 'graphql'
  if (/^\/api\/search\/[^/]+$/.test(path)) return 'search'
  if (path === '/v1/charges') return 'charges'
  if (path === '/Report') return 'report'
  if (path === '/health') return 'health'
  if (/^\/static(\/|$)/.test(path)) return 'static'
  if (/^\/[^/]+\/login$/.test(path)) return 'login'
  return /^\/[^/]+$/.test(path) ? 'item' : 'other'
}

function startNode(
  pathOf: (url: string) => string,
  http2 = false,
  limits: NodeOptions = byPolicy(),
): Promise<RunningApp> {
  const limited = nodeLimit(limits)
  return serve((request, response) => {
    limited(request, response, () => {
      try {
        response.end(routeOf(pathOf(request.url ?? '')))
      } catch {
        response.statusCode = 400
        response.end('error')
      }
    })
  }, http2)
}

function startFetch(limits: FetchOptions = byPolicy()): Promise<RunningApp> {
  const handler = fetchLimit({
    ...limits,
    address: (_request, { incoming }: { incoming: IncomingMessage }) => incoming.socket.remoteAddress,
  })((request: Request) => new Response(routeOf(new URL(request.url).pathname)))
  return running(createAdaptorServer({ fetch: handler as never }) as Server)
}

const asFastify5 = (app: unknown) => app as FastifyInstance

export const APPS: Readonly<Record<string, () => Promise<RunningApp>>> = {
  'Express 5': () => startExpress(express5),
  'Express 4': () => startExpress(express4 as unknown as () => Express),
  'Fastify 5': () => startFastify(fastify5()),
  'Fastify 5, lenient': () => {
    const routerOptions: object = { ...LENIENT, useSemicolonDelimiter: true }
    return startFastify(asFastify5(fastify5({ routerOptions })))
  },
  'Fastify 4': () => startFastify(asFastify5(fastify4())),
  'Fastify 4, lenient': () => startFastify(asFastify5(fastify4(LENIENT))),
  'Koa 3': () => startKoa(Koa3),
  'Koa 2': () => startKoa(Koa2),
  Hono: () => startHono(new Hono()),
  'Hono, not strict': () => startHono(new Hono({ strict: false })),
  'Nest on Express': () => startNest(),
  'Nest on Fastify': () => startNest(new FastifyAdapter()),
  fetch: () => startFetch(),
  ...Object.fromEntries(Object.entries(OWN_PATHS).map(([name, pathOf]) => [`node, ${name}`, () => startNode(pathOf)])),
}

/** Those with the option `routes`, in which it limits the routes. */
export const APPS_WITH_ROUTES: Readonly<Record<string, () => Promise<RunningApp>>> = {
  'Express 5': () => startExpress(express5, routeLimits()),
  'Express 4': () => startExpress(express4 as unknown as () => Express, routeLimits()),
  'Koa 3': () => startKoa(Koa3, false, routeLimits()),
  'Koa 2': () => startKoa(Koa2, false, routeLimits()),
  Hono: () => startHono(new Hono(), routeLimits()),
  'Hono, not strict': () => startHono(new Hono({ strict: false }), routeLimits()),
  fetch: () => startFetch(routeLimits()),
  ...Object.fromEntries(
    Object.entries(OWN_PATHS).map(([name, pathOf]) => [`node, ${name}`, () => startNode(pathOf, false, routeLimits())]),
  ),
}

/** Those that speak HTTP/2, where clients may write targets that a parser of HTTP/1 refuses. */
export const HTTP2_APPS: Readonly<Record<string, () => Promise<RunningApp>>> = {
  'Fastify 5': () => startFastify(asFastify5(fastify5({ http2: true }))),
  'Fastify 4': () => startFastify(asFastify5(fastify4({ http2: true }))),
  'Koa 3': () => startKoa(Koa3, true),
  ...Object.fromEntries(
    Object.entries(OWN_PATHS).map(([name, pathOf]) => [`node, ${name}`, () => startNode(pathOf, true)]),
  ),
}
