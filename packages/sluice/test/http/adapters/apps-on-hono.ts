import type { Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { Readable } from 'node:stream'
import { createAdaptorServer } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { rateLimit } from 'sluice/hono'
import { setCost } from 'sluice/http'
import { chunks, endless, optionsOf, pause, type StartApp } from './app.js'
import { running } from './servers.js'

const body = (from: AsyncGenerator<Uint8Array>) => Readable.toWeb(Readable.from(from)) as ReadableStream

export const startHono: StartApp = ({ limits, http2 = false, onHandled }) => {
  const app = new Hono()
  for (const spec of limits) {
    app.use(
      rateLimit(
        optionsOf(
          spec,
          (context: Context, name) => context.req.header(name),
          (text) => (context: Context) => context.text(text, 418),
        ),
      ),
    )
  }
  app.use(async (context, next) => {
    onHandled?.(context.req.path, context)
    await next()
  })
  app.get('/ok', async (context) => {
    await pause(context.req.url)
    return context.text('ok')
  })
  app.get('/cost', (context) => {
    setCost(context, Number(context.req.query('units')))
    return new Response('ok')
  })
  app.get('/stream', (context) => context.body(body(chunks())))
  app.get('/endless', (context) => context.body(body(endless())))
  app.get('/error', () => {
    throw new Error('boom')
  })
  app.onError((_error, context) => context.text('error', 500))
  const options = http2 ? { fetch: app.fetch, createServer: createHttp2Server } : { fetch: app.fetch }
  return running(createAdaptorServer(options as never) as Server)
}
