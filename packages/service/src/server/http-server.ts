import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { answerBadHttp } from './answer-bad-http.js'
import { BodyRequest } from './body-request.js'
import { Connection } from './connection.js'
import type { Door } from './door.js'
import { Exchange } from './exchange.js'
import { badRequest, Problem } from './problem.js'
import { Router } from './router.js'

/** Bounds that keep one client from holding the server: slow headers, slow bodies, large headers, idle connections. */
const BOUNDS = {
  maxHeaderSize: 16_384,
  /** Nothing is read or written for so long: the client does not read its answers. */
  timeout: 60_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  // Checked here, so that the answer has problem details.
  requireHostHeader: false,
  noDelay: true,
  IncomingMessage: BodyRequest,
}
/** A process should have twice as many file descriptors. */
const MOST_CONNECTIONS = 20_000
const BACKLOG = 1_024
/** How long a connection that has sent nothing yet stays open while the server closes: its request may be on the way. */
const GRACE_MS = 500
const LOOK_MS = 50

/** Hears of each answer and each fault. Absent members cost nothing. */
export interface ServerEvents {
  /** An error that is not the client's fault. */
  fault(error: unknown): void
  /** A request is over, after so many milliseconds. `status` is 0 if the client went away before the answer began. */
  answered?(door: string, status: number, ms: number): void
}

/** The door of requests that no door answers. */
const NO_DOOR = 'none'

/** Answers HTTP requests by doors. */
export class HttpServer {
  readonly #server: Server
  readonly #router: Router
  readonly #connections = new Set<Connection>()
  readonly #onFault: (error: unknown) => void
  readonly #answered: ServerEvents['answered']
  #isClosing = false

  constructor(doors: readonly Door[], events: ServerEvents, bounds: Partial<typeof BOUNDS> = {}) {
    this.#router = new Router(doors)
    this.#onFault = (error) => events.fault(error)
    this.#answered = events.answered
    const { timeout, ...options } = { ...BOUNDS, ...bounds }
    this.#server = createServer(options, (request, response) => this.#answer(request, response))
    this.#server.timeout = timeout
    this.#server.maxConnections = MOST_CONNECTIONS
    // Their size bounds their number. Node.js 24 and older drop fields beyond a number, Node.js 26 refuses the request.
    this.#server.maxHeadersCount = 0
    // `close` of Node.js 26 would cut connections that are new: see `endIfQuiet`.
    this.#server.closeIdleConnections = () => {}
    this.#server.on('connection', (socket: Socket) => this.#follow(socket))
    this.#server.on('clientError', answerBadHttp)
    this.#server.on('checkExpectation', (request: BodyRequest, response: ServerResponse) =>
      this.#exchangeOf(request, response, '').fail(
        new Problem(
          417,
          'The expectation cannot be met',
          'the only expectation that the service knows is 100-continue',
        ),
      ),
    )
  }

  /**
   * Resolves when the server listens. Rejects with the system's error if it cannot. With `reusePort`, other servers of this
   * user that ask for it can listen on the same port, and the system deals connections out.
   */
  async listen(host: string, port: number, reusePort = false): Promise<void> {
    this.#server.listen({ host, port, backlog: BACKLOG, reusePort })
    await once(this.#server, 'listening')
  }

  /** Where it listens: `http://127.0.0.1:8080`. */
  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  /** How many connections are open. */
  get connectionCount(): number {
    return this.#connections.size
  }

  /**
   * Stops accepting connections, and resolves when every request in flight is answered. Answers tell clients that their
   * connection ends. After `deadlineMs` the remaining connections are cut.
   */
  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const each of this.#connections) each.endAfterNewest()
    const graceEndsMs = performance.now() + GRACE_MS
    const endQuiet = () => {
      for (const each of this.#connections) each.endIfQuiet(performance.now() > graceEndsMs)
    }
    endQuiet()
    const looks = setInterval(endQuiet, LOOK_MS)
    const deadline = setTimeout(() => {
      for (const { socket } of this.#connections) socket.destroy()
    }, deadlineMs)
    await closed
    clearInterval(looks)
    clearTimeout(deadline)
  }

  #follow(socket: Socket): void {
    const connection = Connection.of(socket)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }

  #answer(request: BodyRequest, response: ServerResponse): void {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const exchange = this.#exchangeOf(request, response, mark < 0 ? '' : url.slice(mark + 1))
    let door = NO_DOOR
    const answered = this.#answered
    if (answered !== undefined) {
      const startMs = performance.now()
      // Comes after the last byte of the answer, and also if the client goes away before.
      response.on('close', () =>
        answered(door, response.headersSent ? response.statusCode : 0, performance.now() - startMs),
      )
    }
    exchange.run(() => {
      if (request.headers.host === undefined && request.httpVersion === '1.1')
        throw badRequest('a request of HTTP/1.1 must have the field Host')
      const route = this.#router.find(request.method ?? 'GET', pathOf(mark < 0 ? url : url.slice(0, mark)))
      door = route.door
      return route.handler(exchange)
    })
  }

  #exchangeOf(request: BodyRequest, response: ServerResponse, query: string): Exchange {
    const connection = Connection.of(request.socket)
    const before = connection.newest
    connection.begin(response)
    if (this.#isClosing) connection.endAfterNewest(before)
    return new Exchange(request, response, query, this.#onFault)
  }
}

/** The path of a target. A client may also send the whole address: `http://localhost:8080/healthz`. */
function pathOf(target: string): string {
  if (target.charCodeAt(0) === SLASH || !/^https?:\/\//i.test(target)) return target
  const start = target.indexOf('/', target.indexOf('//') + 2)
  return start < 0 ? '/' : target.slice(start)
}

const SLASH = 0x2f
