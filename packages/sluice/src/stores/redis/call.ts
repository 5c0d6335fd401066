import type { Batch } from './batch.js'
import type { FailureReason } from './diagnostics.js'
import type { Reply } from './reply.js'

/** Calls that were made in one turn of the event loop, and share a deadline. */
export interface Turn {
  calls: Call[]
  /** How many have not been answered. */
  open: number
}

/** Calls that were sent to Redis together. */
export interface Sent {
  /** How many have not been answered. */
  open: number
}

/** Something to ask the script, and who waits for the answer. */
export abstract class Call {
  /** The slot of its keys; 0 where there are no slots. */
  readonly slot: number
  /** Its first key in Redis. */
  readonly key: string
  /** How many keys it names. */
  readonly size: number
  turn: Turn | undefined
  /** With which others it was sent, once it has been. */
  sent: Sent | undefined
  isAnswered = false
  /** What gives back is never turned away for lack of room. */
  readonly isUrgent: boolean = false

  constructor(slot: number, key: string, size: number) {
    this.slot = slot
    this.key = key
    this.size = size
  }

  /** Says which calls name the same keys. */
  get together(): string {
    return this.key
  }

  /** Adds itself to a batch. */
  abstract addTo(batch: Batch): void
  /** Reads its part of the reply and answers, or gives an error if its part is none. */
  abstract read(reply: Reply): Error | undefined
  /** Answers without Redis. */
  abstract fail(reason: FailureReason, error: unknown): void
}
