import type { StreamHandler } from '../grpc/grpc-method.js'
import type { MessageReader } from '../grpc/message-reader.js'
import type { CallHead } from './call-head-reader.js'
import type { GrpcStreamCall } from './grpc-stream-call.js'

const noHead: CallHead = {
  path: '',
  method: undefined,
  timeoutMs: Infinity,
  encoding: undefined,
  contentLength: -1,
  refusal: undefined,
}

/**
 * What a connection knows of one stream. Records are used again: `begin` sets every field. A record whose answer a method
 * still owes is not used again before the method has answered, so an answer never meets the record of another call.
 */
export class CallStream {
  id = 0
  head: CallHead = noHead
  beganMs = 0
  /** False once the stream is closed, by either side. */
  isOpen = false

  // What comes.
  clientEnded = false
  bodyBytes = 0
  /** Bytes that came, and that the client has not been told to send again. */
  uncreditedBytes = 0
  reader: MessageReader | undefined
  /** The message of a unary call whose client has not ended the stream yet. */
  message: Buffer | undefined

  // The call.
  /** How the call ended was reported. */
  isReported = false
  /** A method owes the answer. */
  isWorking = false
  call: GrpcStreamCall | undefined
  handler: StreamHandler | undefined
  deadline: NodeJS.Timeout | undefined

  // What goes.
  hasHead = false
  /** What the window of the stream differs from the initial one: updates add to it, and what was sent subtracts. */
  windowChange = 0
  /** Bytes that wait for a window. Undefined while none do. */
  waiting: Buffer[] | undefined
  waitingBytes = 0
  /** When the waiting bytes began to wait, or shrank last. */
  progressMs = 0
  /** How the stream ends when nothing waits any more. Undefined if it does not end yet. */
  ending: Ending | undefined

  begin(id: number, head: CallHead, clientEnded: boolean, nowMs: number): void {
    this.id = id
    this.head = head
    this.beganMs = nowMs
    this.isOpen = true
    this.clientEnded = clientEnded
    this.bodyBytes = 0
    this.uncreditedBytes = 0
    this.reader = undefined
    this.message = undefined
    this.isReported = false
    this.isWorking = false
    this.call = undefined
    this.handler = undefined
    this.deadline = undefined
    this.hasHead = false
    this.windowChange = 0
    this.waiting = undefined
    this.waitingBytes = 0
    this.progressMs = 0
    this.ending = undefined
  }
}

/** With trailers of gRPC, or with the last byte of a plain text. */
export type Ending = { readonly status: number; readonly message: string } | 'plain'
