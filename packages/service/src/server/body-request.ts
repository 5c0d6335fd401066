import { IncomingMessage } from 'node:http'

/** Gets the parts of a body as they come, then its end. */
export interface BodyReader {
  takePart(part: Buffer): void
  takeEnd(): void
}

/**
 * A request whose body can be read without a stream: the parser hands its parts to a reader, with no event, queue or turn
 * of the event loop between. For a small body that saves a tenth of the time of a whole request.
 *
 * Without a reader it is the stream that Node makes. With one, the stream stays empty and never ends; Node's own use of it
 * after the answer, which is to drop what was not read, still works.
 */
export class BodyRequest extends IncomingMessage {
  #reader: BodyReader | undefined

  /** Must be called in the turn in which the request came: parts that came before are in the stream. */
  readBody(reader: BodyReader): void {
    this.#reader = reader
  }

  /** Node's parser calls this for each part, and with `null` at the end. Returns whether there is room for more. */
  override push(part: Buffer | null, encoding?: BufferEncoding): boolean {
    const reader = this.#reader
    if (reader === undefined) return super.push(part, encoding)
    if (part === null) reader.takeEnd()
    else reader.takePart(part)
    return true
  }
}
