import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setCost } from 'sluice/http'
import { rateLimit } from 'sluice/node'
import { chunks, endless, optionsOf, pause, type StartApp } from './app.js'
import { serve } from './servers.js'

/** What `node:http` itself calls a handler. */
export const startNode: StartApp = ({ limits, http2 = false, onHandled }) => {
  const guards = limits.map((spec) =>
    rateLimit(
      optionsOf(
        spec,
        (request: IncomingMessage, name) => request.headers[name]?.toString(),
        (text) => (_request: IncomingMessage, response: ServerResponse) => {
          response.statusCode = 418
          response.end(text)
        },
      ),
    ),
  )
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, search, searchParams } = new URL(request.url ?? '', 'http://localhost')
    onHandled?.(pathname, request)
    switch (pathname) {
      case '/ok':
        return search === '' ? response.end('ok') : pause(search).then(() => response.end('ok'))
      case '/cost':
        setCost(request, Number(searchParams.get('units')))
        return response.end('ok')
      case '/stream':
        return Readable.from(chunks()).pipe(response)
      case '/endless':
        return Readable.from(endless()).pipe(response)
      case '/error':
        throw new Error('boom')
      default:
        response.statusCode = 404
        return response.end('not found')
    }
  }
  return serve((request, response) => {
    const fail = () => {
      response.statusCode = 500
      response.end('error')
    }
    const step = (i: number): void => {
      if (i < guards.length) {
        guards[i](request, response, () => step(i + 1))
        return
      }
      try {
        handle(request, response)
      } catch {
        fail()
      }
    }
    step(0)
  }, http2)
}
