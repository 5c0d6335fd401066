import { Readable } from 'node:stream'
import Koa3, { type Context } from 'koa'
// @ts-expect-error there are types for one version only
import Koa2 from 'koa2'
import { setCost } from 'sluice/http'
import { rateLimit } from 'sluice/koa'
import { chunks, endless, optionsOf, pause, type StartApp } from './app.js'
import { serve } from './servers.js'

const startWith =
  (Koa: typeof Koa3): StartApp =>
  ({ limits, http2 = false, onHandled }) => {
    const app = new Koa()
    app.silent = true
    for (const spec of limits) {
      app.use(
        rateLimit(
          optionsOf(
            spec,
            (context: Context, name) => context.get(name) || undefined,
            (text) => (context: Context) => {
              context.status = 418
              context.body = text
            },
          ),
        ),
      )
    }
    app.use(async (context) => {
      onHandled?.(context.path, context)
      switch (context.path) {
        case '/ok':
          await pause(context.search)
          context.body = 'ok'
          return
        case '/cost':
          setCost(context, Number(context.query.units))
          context.body = 'ok'
          return
        case '/stream':
          context.body = Readable.from(chunks())
          return
        case '/endless':
          context.body = Readable.from(endless())
          return
        case '/error':
          throw new Error('boom')
      }
    })
    return serve(app.callback(), http2)
  }

export const startKoa3 = startWith(Koa3)
export const startKoa2 = startWith(Koa2)
