import type { ServerHttp2Stream } from 'node:http2'
import type { CallHead } from './call-head.js'
import { deadlineExceeded, GRPC_STATUS, GrpcError } from './grpc-error.js'
import type { UnaryMethod } from './grpc-method.js'
import { type CallHost, NodeGrpcCall } from './node-grpc-call.js'

/** A call with one message, which is answered with one. */
export class UnaryCall extends NodeGrpcCall {
  readonly #method: UnaryMethod
  readonly #slowestMs: number
  #hasEnded = false
  #message: Uint8Array | undefined
  #isTooMany = false

  constructor(host: CallHost, stream: ServerHttp2Stream, head: CallHead, method: UnaryMethod) {
    super(host, stream, head)
    this.#method = method
    this.#slowestMs = host.slowestMs
  }

  override isLate(nowMs: number): boolean {
    return super.isLate(nowMs) || (!this.isOver && !this.#hasEnded && nowMs > this.startMs + this.#slowestMs)
  }

  protected hear(message: Uint8Array): void {
    if (this.#message !== undefined) this.#isTooMany = true
    this.#message = message
  }

  clientEnded(): void {
    if (this.isOver) return
    this.#hasEnded = true
    // A client that has stopped waiting believes that nothing was taken.
    if (this.isLate(performance.now())) return void this.fail(deadlineExceeded())
    try {
      const answer = this.#method.answer(this.#onlyMessage())
      if (!(answer instanceof Promise)) return void this.succeed(answer)
      answer.then(
        (later) => this.succeed(later),
        (error: unknown) => this.fail(error),
      )
    } catch (error) {
      this.fail(error)
    }
  }

  #onlyMessage(): Uint8Array {
    if (this.isWithinMessage) throw new GrpcError(GRPC_STATUS.internal, 'the call ends within a message')
    if (this.#message !== undefined && !this.#isTooMany) return this.#message
    const got = this.#isTooMany ? 'several' : 'none'
    throw new GrpcError(GRPC_STATUS.unimplemented, `the method takes one message, got ${got}`)
  }
}
