import { Readable } from 'node:stream'
import express5, { type Express, type Request, type Response } from 'express'
// @ts-expect-error there are types for one version only
import express4 from 'express4'
import { rateLimit } from 'sluice/express'
import { setCost } from 'sluice/http'
import { chunks, endless, optionsOf, pause, type StartApp } from './app.js'
import { serve } from './servers.js'

function startWith(express: () => Express): StartApp {
  return ({ limits, onHandled }) => {
    const app = express()
    for (const spec of limits) {
      app.use(
        rateLimit(
          optionsOf(
            spec,
            (request: Request, name) => request.get(name),
            (text) => (_request: Request, response: Response) => void response.status(418).send(text),
          ),
        ),
      )
    }
    app.use((request, _response, next) => {
      onHandled?.(request.path, request)
      next()
    })
    app.get('/ok', async (request, response) => {
      await pause(request.url)
      response.send('ok')
    })
    app.get('/cost', (request, response) => {
      setCost(request, Number(request.query.units))
      response.send('ok')
    })
    app.get('/stream', (_request, response) => void Readable.from(chunks()).pipe(response))
    app.get('/endless', (_request, response) => void Readable.from(endless()).pipe(response))
    app.get('/error', () => {
      throw new Error('boom')
    })
    app.use((_error: unknown, _request: Request, response: Response, _next: unknown) => {
      response.status(500).send('error')
    })
    return serve(app)
  }
}

export const startExpress5 = startWith(express5)
export const startExpress4 = startWith(express4 as unknown as () => Express)
