import type { IncomingMessage, Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { Readable } from 'node:stream'
import { createAdaptorServer } from '@hono/node-server'
import { rateLimit } from 'sluice/fetch'
import { setCost } from 'sluice/http'
import { chunks, endless, optionsOf, pause, type StartApp } from './app.js'
import { running } from './servers.js'

interface Platform {
  readonly incoming: IncomingMessage
}

const body = (from: AsyncGenerator<Uint8Array>) => Readable.toWeb(Readable.from(from)) as ReadableStream

/** Handlers of `Request`s, on a server that passes the request of Node.js to them. */
export const startFetch: StartApp = ({ limits, http2 = false, onHandled }) => {
  let handler = (request: Request, _platform: Platform): Response | Promise<Response> => {
    const { pathname, search, searchParams } = new URL(request.url)
    onHandled?.(pathname, request)
    switch (pathname) {
      case '/ok':
        return search === '' ? new Response('ok') : pause(search).then(() => new Response('ok'))
      case '/cost':
        setCost(request, Number(searchParams.get('units')))
        return new Response('ok')
      case '/stream':
        return new Response(body(chunks()))
      case '/endless':
        return new Response(body(endless()))
      case '/error':
        return new Response('error', { status: 500 })
      default:
        return new Response('not found', { status: 404 })
    }
  }
  for (const spec of [...limits].reverse()) {
    const limited = rateLimit({
      ...optionsOf(
        spec,
        (request: Request, name) => request.headers.get(name),
        (text) => () => new Response(text, { status: 418 }),
      ),
      address: (_request, { incoming }: Platform) => incoming.socket.remoteAddress,
    })
    handler = limited(handler)
  }
  const fetch = async (request: Request, platform: Platform) => {
    try {
      return await handler(request, platform)
    } catch {
      return new Response('error', { status: 500 })
    }
  }
  const options = http2 ? { fetch, createServer: createHttp2Server } : { fetch }
  return running(createAdaptorServer(options as never) as Server)
}
