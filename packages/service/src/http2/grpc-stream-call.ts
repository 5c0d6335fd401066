import type { GrpcError } from '../grpc/grpc-error.js'
import type { StreamCall } from '../grpc/grpc-method.js'
import type { CallStream } from './call-stream.js'

/** What a call with a stream of messages can do to its connection. */
export interface StreamedAnswers {
  sendOn(stream: CallStream, message: Uint8Array): void
  endWith(stream: CallStream, error: GrpcError | undefined): void
}

/** The sending side of a call. The call lets go of its stream when it is over, because another call may get the record. */
export class GrpcStreamCall implements StreamCall {
  readonly #answers: StreamedAnswers
  #stream: CallStream | undefined

  constructor(answers: StreamedAnswers, stream: CallStream) {
    this.#answers = answers
    this.#stream = stream
  }

  send(message: Uint8Array): void {
    if (this.#stream !== undefined) this.#answers.sendOn(this.#stream, message)
  }

  end(error?: GrpcError): void {
    const stream = this.#stream
    this.#stream = undefined
    if (stream !== undefined) this.#answers.endWith(stream, error)
  }

  detach(): void {
    this.#stream = undefined
  }
}
