import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { GrpcServer, GrpcServerOptions, GrpcTls } from '../grpc/grpc-server.js'
import { PartialBytes } from '../grpc/message-reader.js'
import { type Bounds, defaultBounds } from './bounds.js'
import type { CallHost } from './grpc-calls.js'
import { Http2Connection } from './http2-connection.js'

const BACKLOG = 1_024
/** A client that is gone without a word is noticed after about this long. */
const KEEP_ALIVE_MS = 60_000
const MOST_SWEEP_MS = 1_000
const LEAST_SWEEP_MS = 5

export interface OwnGrpcServerOptions extends GrpcServerOptions {
  /** Bounds that differ from `defaultBounds`. */
  readonly bounds?: Partial<Bounds>
}

/** A server for gRPC calls on sockets, with HTTP/2 written for them. The README of this folder says what it does not do. */
export class OwnGrpcServer implements GrpcServer {
  readonly #bounds: Bounds
  readonly #host: CallHost
  readonly #server: Server
  /** Every TCP connection, also before its TLS handshake. */
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Set<Http2Connection>()
  #sweeper: NodeJS.Timeout | undefined
  #isClosing = false
  #emptied: (() => void) | undefined

  constructor({ methods, tls, fault = ignore, tlsFailed = ignore, answered, bounds: some }: OwnGrpcServerOptions) {
    const bounds = { ...defaultBounds, ...some }
    this.#bounds = bounds
    this.#host = { methods, bounds, partial: new PartialBytes(bounds.allPartialBytes), fault, answered }
    this.#server = tls === undefined ? this.#plainServer() : this.#tlsServer(tls, tlsFailed)
    this.#server.maxConnections = this.#bounds.connections
  }

  get connections(): number {
    return this.#sockets.size
  }

  async listen(host: string, port: number, reusePort = false): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port, backlog: BACKLOG, reusePort }, () => {
        this.#server.off('error', reject)
        // The system could not accept a connection. Others go on.
        this.#server.on('error', this.#host.fault)
        resolve()
      })
    })
    const { helloMs, blockMs, requestMs, stalledMs, idleMs, lingerMs } = this.#bounds
    const everyMs = Math.min(helloMs, blockMs, requestMs, stalledMs, idleMs, lingerMs) / 4
    const sweepMs = Math.max(LEAST_SWEEP_MS, Math.min(MOST_SWEEP_MS, everyMs))
    this.#sweeper = setInterval(() => this.#sweep(), sweepMs).unref()
    return (this.#server.address() as { port: number }).port
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true
    this.#server.close()
    for (const connection of this.#connections) connection.leave()
    if (this.#sockets.size > 0) await this.#emptyWithin(deadlineMs)
    clearInterval(this.#sweeper)
  }

  #emptyWithin(deadlineMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => {
        for (const connection of this.#connections) connection.destroy()
        for (const socket of this.#sockets) socket.destroy()
      }, deadlineMs)
      this.#emptied = () => {
        clearTimeout(cut)
        resolve()
      }
    })
  }

  #plainServer(): Server {
    return createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }, (socket) => {
      this.#track(socket)
      this.#connect(socket, false)
    })
  }

  #tlsServer({ cert, key, clientCa }: GrpcTls, tlsFailed: NonNullable<GrpcServerOptions['tlsFailed']>): Server {
    const demands = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }
    const server = createTlsServer({
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...demands,
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: this.#bounds.helloMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    })
    // The TCP connection first, then the TLS connection over it.
    server.on('connection', (socket: Socket) => this.#track(socket))
    server.on('tlsClientError', (error, socket) => {
      tlsFailed(error, socket)
      socket.destroy()
    })
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', ignore)
      if (socket.alpnProtocol === 'h2') this.#connect(socket, true)
      else {
        tlsFailed(new Error('the client does not offer h2 by ALPN'), socket)
        socket.destroy()
      }
    })
    return server
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', ignore)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      if (this.#sockets.size === 0) this.#emptied?.()
    })
  }

  #connect(socket: Socket, isSecure: boolean): void {
    if (this.#isClosing) {
      socket.destroy()
      return
    }
    const connection = new Http2Connection(socket, isSecure, this.#host)
    this.#connections.add(connection)
    socket.once('close', () => this.#connections.delete(connection))
  }

  #sweep(): void {
    const nowMs = performance.now()
    let unread = 0
    for (const connection of this.#connections) {
      connection.sweep(nowMs)
      unread += connection.unreadBytes
    }
    if (unread > this.#bounds.allQueuedBytes) this.#cutSlowest(unread)
  }

  /** Cuts off the clients for which most waits, until what waits for the others is within its bound. */
  #cutSlowest(unread: number): void {
    let left = unread
    for (const connection of [...this.#connections].sort((a, b) => b.unreadBytes - a.unreadBytes)) {
      if (left <= this.#bounds.allQueuedBytes) return
      left -= connection.unreadBytes
      connection.destroy()
    }
  }
}

function ignore(): void {}
