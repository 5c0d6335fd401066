import { once } from 'node:events'
import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { type CallHead, callHead } from './call-head.js'
import { GRPC_STATUS, GrpcError } from './grpc-error.js'
import type { GrpcMethods, UnaryMethod } from './grpc-method.js'
import type { GrpcServer, GrpcServerOptions, GrpcTls } from './grpc-server.js'
import { MOST_PARTIAL_BYTES, PartialBytes } from './message-reader.js'
import { type CallHost, closeSoon, type NodeGrpcCall } from './node-grpc-call.js'
import { SessionBudget } from './session-budget.js'
import { StreamingCall } from './streaming-call.js'
import { UnaryCall } from './unary-call.js'

/**
 * Bounds that keep one client from holding the server. `nghttp2` itself ends a connection that resets too many streams, or that
 * does not read the answers to its PING and SETTINGS frames.
 */
const BOUNDS = {
  settings: { maxConcurrentStreams: 1_000, maxHeaderListSize: 16_384, enablePush: false },
  maxHeaderListPairs: 128,
  maxSendHeaderBlockLength: 65_536,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  maxSessionMemory: 10,
  maxSettings: 32,
  unknownProtocolTimeout: 10_000,
}
/** A process should have twice as many file descriptors. */
const MOST_CONNECTIONS = 20_000
const BACKLOG = 1_024
const LONGEST_HANDSHAKE_MS = 10_000
/** Times that only tests change. */
const TIMES = {
  /** How often a connection is asked whether it lives. */
  pingMs: 15_000,
  /** How long a client may take to send the message of a unary call, and to read an answer. */
  slowestMs: 30_000,
}
/** How often deadlines are looked at, while calls are open. */
const LOOK_MS = 10

/** The call of a stream, for the listeners that all streams share. */
const CALL = Symbol('call')
interface CallStream extends ServerHttp2Stream {
  [CALL]: NodeGrpcCall
}

/** A `GrpcServer` on the stream API of `node:http2`. */
export class NodeGrpcServer implements GrpcServer {
  readonly #server: Http2Server | Http2SecureServer
  readonly #methods: GrpcMethods
  readonly #host: CallHost
  readonly #sockets = new Set<Socket>()
  readonly #sessions = new Set<ServerHttp2Session>()
  /** Those of them that owe the answer to a PING. */
  readonly #asked = new WeakSet<ServerHttp2Session>()
  readonly #pings: NodeJS.Timeout
  #looks: NodeJS.Timeout | undefined
  #isClosing = false

  constructor(
    { methods, tls, fault = ignore, tlsFailed = ignore, answered }: GrpcServerOptions,
    times: Partial<typeof TIMES> = {},
  ) {
    const { pingMs, slowestMs } = { ...TIMES, ...times }
    this.#methods = methods
    this.#host = { partial: new PartialBytes(MOST_PARTIAL_BYTES), open: new Set(), slowestMs, fault, answered }
    this.#server = tls === undefined ? createServer(BOUNDS) : createSecureServer({ ...BOUNDS, ...tlsOptions(tls) })
    this.#server.maxConnections = MOST_CONNECTIONS
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('session', (session) => this.#follow(session as ServerHttp2Session))
    this.#server.on('stream', (stream, headers) => this.#accept(stream as CallStream, headers))
    // Their connections are over; others go on.
    this.#server.on('sessionError', ignore)
    this.#server.on('tlsClientError', tlsFailed)
    // After what has come by then is read: a process that was held up must not miss the answers.
    this.#pings = setInterval(() => setImmediate(() => this.#pingAll()), pingMs).unref()
  }

  get connections(): number {
    return this.#sockets.size
  }

  async listen(host: string, port: number, reusePort = false): Promise<number> {
    this.#server.listen({ host, port, backlog: BACKLOG, reusePort })
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  async close(deadlineMs: number): Promise<void> {
    clearInterval(this.#pings)
    if (!this.#server.listening) return
    this.#isClosing = true
    const closed = once(this.#server, 'close')
    this.#server.close()
    // A stream of messages may have no end of its own.
    for (const call of this.#host.open) if (call instanceof StreamingCall) call.fail(shuttingDown())
    for (const session of this.#sessions) session.close()
    const deadline = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, deadlineMs)
    await closed
    clearTimeout(deadline)
    clearInterval(this.#looks)
  }

  /**
   * Ends connections that did not answer the last PING: the peer is gone without a word, has said none yet, or broke the protocol.
   * After such a break `nghttp2` sends GOAWAY and reads nothing more, but leaves the connection open.
   */
  #pingAll(): void {
    for (const session of this.#sessions) {
      if (this.#asked.has(session)) session.destroy()
      else if (!session.destroyed) this.#ping(session)
    }
  }

  #ping(session: ServerHttp2Session): void {
    this.#asked.add(session)
    session.ping((error) => {
      if (error === null) this.#asked.delete(session)
    })
  }

  #follow(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.on('error', ignore)
    const budget = new SessionBudget()
    const calm = (isWithin: boolean) => {
      if (!isWithin) session.destroy(new Error('too many frames'), constants.NGHTTP2_ENHANCE_YOUR_CALM)
    }
    session.on('ping', () => calm(budget.ping(performance.now())))
    session.on('remoteSettings', () => calm(budget.settings(performance.now())))
    session.once('close', () => this.#sessions.delete(session))
    if (this.#isClosing) session.close()
  }

  #accept(stream: CallStream, headers: IncomingHttpHeaders): void {
    stream.on('error', ignore)
    const status = refusedStatus(headers)
    if (status !== undefined) return void refuse(stream, status)
    const call = this.#callOf(stream, callHead(headers))
    stream[CALL] = call
    stream.on('wantTrailers', onWantTrailers)
    stream.on('data', onData)
    stream.on('end', onEnd)
    stream.on('close', onClose)
    this.#looks ??= setInterval(() => this.#look(performance.now()), LOOK_MS).unref()
  }

  /** A call that is refused is over at once. */
  #callOf(stream: ServerHttp2Stream, head: CallHead): NodeGrpcCall {
    const method = this.#methods.get(head.path)
    if (method === undefined || Number.isNaN(head.timeoutMs)) {
      const error = method === undefined ? unknownMethod(head.path) : malformedTimeout()
      const refused = new UnaryCall(this.#host, stream, head, NO_METHOD)
      refused.fail(error)
      return refused
    }
    if (method.kind === 'unary') return new UnaryCall(this.#host, stream, head, method)
    return new StreamingCall(this.#host, stream, head, method)
  }

  /** Ends calls whose time is over. */
  #look(nowMs: number): void {
    const { open } = this.#host
    for (const call of open) if (call.isLate(nowMs)) call.expire()
    if (open.size > 0) return
    clearInterval(this.#looks)
    this.#looks = undefined
  }
}

function tlsOptions({ cert, key, clientCa }: GrpcTls): SecureServerOptions {
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }
  return { cert, key, ...clients, minVersion: 'TLSv1.2', handshakeTimeout: LONGEST_HANDSHAKE_MS }
}

/** The HTTP status of a request that is no call of gRPC. */
function refusedStatus(headers: IncomingHttpHeaders): number | undefined {
  if (headers[':method'] !== 'POST') return 405
  return isGrpc(headers['content-type'] ?? '') ? undefined : 415
}

function isGrpc(type: string): boolean {
  return type === 'application/grpc' || /^application\/grpc(\+proto)?\s*(;|$)/i.test(type)
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  stream.respond({ ':status': status, ...(status === 405 && { allow: 'POST' }) }, { endStream: true })
  closeSoon(stream)
}

/** Stands in for the method of a call that is refused before its message comes. */
const NO_METHOD: UnaryMethod = {
  kind: 'unary',
  answer: () => {
    throw unknownMethod('')
  },
}

function unknownMethod(path: string): GrpcError {
  return new GrpcError(GRPC_STATUS.unimplemented, `there is no method ${path.slice(0, 200)}`)
}

function malformedTimeout(): GrpcError {
  return new GrpcError(GRPC_STATUS.invalidArgument, 'grpc-timeout must be at most eight digits and a unit, such as 20m')
}

function shuttingDown(): GrpcError {
  return new GrpcError(GRPC_STATUS.unavailable, 'the service is shutting down')
}

function onWantTrailers(this: CallStream): void {
  if (this.destroyed) return
  this.sendTrailers(this[CALL].trailers as OutgoingHttpHeaders)
  closeSoon(this)
}

function onData(this: CallStream, part: Buffer): void {
  this[CALL].take(part)
}

function onEnd(this: CallStream): void {
  this[CALL].clientEnded()
}

function onClose(this: CallStream): void {
  this[CALL].closed()
}

function ignore(): void {}
