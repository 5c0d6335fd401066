import 'reflect-metadata'
import type { Server } from 'node:http'
import { Readable } from 'node:stream'
import { Controller, Get, type INestApplication, Module, Req, Res, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { setCost } from 'sluice/http'
import { type NestOptions, RateLimitModule, rateLimit } from 'sluice/nest'
import { type AppSpec, chunks, endless, optionsOf, pause, type RunningApp, type StartApp } from './app.js'
import { running } from './servers.js'

interface AnyRequest {
  readonly url: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly query: { readonly units?: string }
}
type AnyResponse = { send(body: unknown): unknown; raw?: object } & NodeJS.WritableStream

/** Decorators are functions, and the tests are compiled by a tool that does not know those of Nest. */
function controllerWith(onHandled: AppSpec['onHandled']): new () => object {
  class AppController {
    async ok(request: AnyRequest) {
      onHandled?.(request.url, request)
      await pause(request.url)
      return 'ok'
    }
    cost(request: AnyRequest) {
      onHandled?.(request.url, request)
      setCost(request, Number(request.query.units))
      return 'ok'
    }
    stream(response: AnyResponse) {
      send(response, chunks())
    }
    endless(response: AnyResponse) {
      send(response, endless())
    }
    error() {
      throw new Error('boom')
    }
  }
  const { prototype } = AppController
  for (const name of ['ok', 'cost', 'stream', 'endless', 'error'] as const) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor
    Get(name)(prototype, name, descriptor)
    if (name === 'ok' || name === 'cost') Req()(prototype, name, 0)
    if (name === 'stream' || name === 'endless') Res()(prototype, name, 0)
  }
  Controller()(AppController)
  return AppController
}

function send(response: AnyResponse, from: AsyncGenerator<Uint8Array>): void {
  if (response.raw === undefined) Readable.from(from).pipe(response)
  else response.send(Readable.from(from))
}

function nestOptions(spec: AppSpec['limits'][number]): NestOptions {
  return optionsOf(
    spec,
    (request: AnyRequest & object, name) => request.headers[name]?.toString(),
    () => undefined,
  ) as unknown as NestOptions
}

function startWith(create: (module: Type, http2: boolean) => Promise<INestApplication>): StartApp {
  return async ({ limits, http2 = false, onHandled }: AppSpec): Promise<RunningApp> => {
    class AppModule {}
    const [first, ...others] = limits.map(nestOptions)
    Module({ imports: [RateLimitModule.forRoot(first)], controllers: [controllerWith(onHandled)] })(AppModule)
    const app = await create(AppModule, http2)
    if (others.length > 0) app.useGlobalGuards(...others.map(rateLimit))
    await app.init()
    const fastify = app.getHttpAdapter().getInstance() as { ready?: () => Promise<void> }
    await fastify.ready?.()
    return running(app.getHttpServer() as Server)
  }
}

export const startNestOnExpress = startWith((module) => NestFactory.create(module, { logger: false }))
export const startNestOnFastify = startWith((module, http2) =>
  NestFactory.create(module, new FastifyAdapter((http2 ? { http2: true } : {}) as never) as never, { logger: false }),
)
