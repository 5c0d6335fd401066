const MOST_ENDED = 64
const MOST_RESET = 256

/**
 * The streams of a connection that were closed last. Frames for them may be on their way, or may be a fault of the client:
 *
 *   - A client may not know yet that the server has reset a stream. Its frames are ignored.
 *   - A client that has ended a stream must not send on it: STREAM_CLOSED.
 *   - A stream that is in neither list, and has a number that was passed, was skipped or is long forgotten.
 */
export class ClosedStreams {
  readonly #ended = new Int32Array(MOST_ENDED)
  readonly #reset = new Int32Array(MOST_RESET)
  #nextEnded = 0
  #nextReset = 0

  /** The client has ended the stream, or reset it. */
  addEnded(id: number): void {
    this.#ended[this.#nextEnded] = id
    this.#nextEnded = (this.#nextEnded + 1) % MOST_ENDED
  }

  /** The server has reset the stream before its client ended it. */
  addReset(id: number): void {
    this.#reset[this.#nextReset] = id
    this.#nextReset = (this.#nextReset + 1) % MOST_RESET
  }

  wasEnded(id: number): boolean {
    return this.#ended.includes(id)
  }

  wasReset(id: number): boolean {
    return this.#reset.includes(id)
  }
}
