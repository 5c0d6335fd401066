import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Door } from './door.js'
import { Exchange } from './exchange.js'
import { Router } from './router.js'

/** Bounds that keep one client from holding the server: slow headers, slow bodies, large headers, idle connections. */
const BOUNDS = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
}

/** Hears of each answer and each fault. Absent members cost nothing. */
export interface ServerEvents {
  /** An error that is not the client's fault. */
  fault(error: unknown): void
  /** A request is over, after so many milliseconds. `status` is 0 if the client went away before the answer began. */
  answered?(door: string, status: number, ms: number): void
}

/** The door of requests that no door answers. */
const NO_DOOR = 'none'

/** An HTTP server whose requests are answered by doors. It does not listen yet. */
export function createHttpServer(doors: readonly Door[], events: ServerEvents): Server {
  const router = new Router(doors)
  const { answered } = events
  const onFault = (error: unknown) => events.fault(error)
  return createServer(BOUNDS, (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const exchange = new Exchange(request, response, mark < 0 ? '' : url.slice(mark + 1), onFault)
    let door = NO_DOOR
    if (answered !== undefined) {
      const startMs = performance.now()
      // Comes after the last byte of the answer, and also if the client goes away before.
      response.on('close', () =>
        answered(door, response.headersSent ? response.statusCode : 0, performance.now() - startMs),
      )
    }
    exchange.run(() => {
      const route = router.find(request.method ?? 'GET', path)
      door = route.door
      return route.handler(exchange)
    })
  })
}
