import type { ServerHttp2Stream } from 'node:http2'
import type { CallHead } from './call-head.js'
import { GRPC_STATUS, GrpcError } from './grpc-error.js'
import type { StreamHandler, StreamMethod } from './grpc-method.js'
import { type CallHost, NodeGrpcCall } from './node-grpc-call.js'

/** A call whose messages come and go until one side ends it. */
export class StreamingCall extends NodeGrpcCall {
  readonly #handler: StreamHandler | undefined

  constructor(host: CallHost, stream: ServerHttp2Stream, head: CallHead, method: StreamMethod) {
    super(host, stream, head)
    try {
      this.#handler = method.open({
        send: (message) => this.write(message),
        end: (error) => (error === undefined ? this.complete() : this.fail(error)),
      })
    } catch (error) {
      this.fail(error)
    }
  }

  protected hear(message: Uint8Array): void {
    this.#try(() => this.#handler?.message(message))
  }

  clientEnded(): void {
    this.#try(() => {
      if (this.isWithinMessage) throw new GrpcError(GRPC_STATUS.internal, 'the call ends within a message')
      this.#handler?.clientEnded()
    })
  }

  protected override finish(status: number): void {
    super.finish(status)
    // A method may end a call while it opens it.
    this.#handler?.closed()
  }

  #try(run: () => void): void {
    if (this.isOver) return
    try {
      run()
    } catch (error) {
      this.fail(error)
    }
  }
}
