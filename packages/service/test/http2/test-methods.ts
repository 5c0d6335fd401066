import { GrpcError } from '../../dist/grpc/grpc-error.js'
import type { GrpcMethod, GrpcMethods, StreamCall } from '../../dist/grpc/grpc-method.js'
import { OwnGrpcServer, type OwnGrpcServerOptions } from '../../dist/http2/own-grpc-server.js'

export const ECHO = '/test.Test/Echo'
/** Echoes by a promise. */
export const LATER = '/test.Test/Later'
/** Answers when the test says so. */
export const HELD = '/test.Test/Held'
/** Fails as its message says: `code text`, and `later` before it for a promise. */
export const FAIL = '/test.Test/Fail'
/** Throws something that is no GrpcError. */
export const BROKEN = '/test.Test/Broken'
/** Answers with as many bytes as its message says. */
export const LARGE = '/test.Test/Large'
/** Echoes every message of a stream; `end` ends it, `fail` ends it with an error, `throw` throws. */
export const CHAT = '/test.Test/Chat'

/** A server with these methods, and what a test sees of it. */
export interface TestServer {
  readonly server: OwnGrpcServer
  readonly port: number
  readonly faults: unknown[]
  /** `path status` of every call that has ended. */
  readonly answered: string[]
  /** What happened to streaming calls. */
  readonly events: string[]
  /** The calls of `HELD` that wait. */
  readonly held: Held[]
  /** How many times `ECHO` was called. */
  readonly echoed: () => number
  /** Resolves when `isTrue`, which is looked at whenever something happens here. */
  until(isTrue: () => boolean): Promise<void>
  close(deadlineMs?: number): Promise<void>
}

export interface Held {
  resolve(answer: Uint8Array): void
  reject(error: unknown): void
}

export async function startServer(options: Partial<OwnGrpcServerOptions> = {}): Promise<TestServer> {
  const watchers = new Set<() => void>()
  const happened = () => {
    for (const watch of [...watchers]) watch()
  }
  const faults: unknown[] = []
  const answered: string[] = []
  const events: string[] = []
  const held: Held[] = []
  let echoed = 0
  const methods: GrpcMethods = new Map<string, GrpcMethod>([
    [
      ECHO,
      {
        kind: 'unary',
        answer(message) {
          echoed++
          return Buffer.from(message)
        },
      },
    ],
    [
      LATER,
      {
        kind: 'unary',
        async answer(message) {
          const copy = Buffer.from(message)
          await Promise.resolve()
          return copy
        },
      },
    ],
    [
      HELD,
      {
        kind: 'unary',
        answer: () =>
          new Promise<Uint8Array>((resolve, reject) => {
            held.push({ resolve, reject })
            happened()
          }),
      },
    ],
    [FAIL, { kind: 'unary', answer: failAsTold }],
    [
      BROKEN,
      {
        kind: 'unary',
        answer() {
          throw new TypeError('a secret of the server')
        },
      },
    ],
    [LARGE, { kind: 'unary', answer: answerLarge }],
    [
      CHAT,
      {
        kind: 'stream',
        open: (call) => {
          events.push('open')
          happened()
          return chat(call, (event) => {
            events.push(event)
            happened()
          })
        },
      },
    ],
  ])
  const server = new OwnGrpcServer({
    methods,
    fault: (error) => faults.push(error),
    answered(path, status) {
      answered.push(`${path} ${status}`)
      happened()
    },
    ...options,
  })
  const port = await server.listen('127.0.0.1', 0)
  return {
    server,
    port,
    faults,
    answered,
    events,
    held,
    echoed: () => echoed,
    until: (isTrue) =>
      new Promise((resolve) => {
        const watch = () => {
          if (!isTrue()) return
          watchers.delete(watch)
          resolve()
        }
        watchers.add(watch)
        watch()
      }),
    close: (deadlineMs = 0) => server.close(deadlineMs),
  }
}

function answerLarge(message: Uint8Array): Uint8Array {
  const bytes = Number(Buffer.from(message).toString())
  if (!(bytes <= 10_000_000)) throw new GrpcError(3, 'the message is not a number of bytes')
  return Buffer.alloc(bytes, 'x')
}

function failAsTold(message: Uint8Array): Uint8Array | Promise<Uint8Array> {
  const [, later, code, text] = /^(later )?(\d+) (.*)$/s.exec(Buffer.from(message).toString()) ?? []
  const error = new GrpcError(Number(code), text)
  if (later === undefined) throw error
  return Promise.reject(error)
}

function chat(call: StreamCall, happened: (event: string) => void) {
  return {
    message(message: Uint8Array) {
      const text = Buffer.from(message).toString()
      happened(`message ${text.slice(0, 20)}`)
      if (text === 'end') call.end()
      else if (text === 'fail') call.end(new GrpcError(3, 'as told'))
      else if (text === 'throw') throw new TypeError('a secret of the server')
      else call.send(Buffer.from(message))
    },
    clientEnded() {
      happened('ended')
      call.end()
    },
    closed() {
      happened('closed')
    },
  }
}
