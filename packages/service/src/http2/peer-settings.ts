import { MAX_FRAME_BYTES, MAX_WINDOW } from './frame-type.js'
import { ErrorCode, Http2Error } from './http2-error.js'

const HEADER_TABLE_SIZE = 0x1
const ENABLE_PUSH = 0x2
const INITIAL_WINDOW_SIZE = 0x4
const MAX_FRAME_SIZE = 0x5

/** The settings of a client, as far as an answer depends on them. */
export class PeerSettings {
  /** The window of a stream before any WINDOW_UPDATE. */
  initialWindow = 65_535
  /** The least table that the client has announced since `takeTableBytes` was called last. */
  #leastTableBytes: number | undefined

  /** Reads the payload of a SETTINGS frame. Settings that are unknown, or that do not matter here, are ignored. */
  read(bytes: Buffer, at: number, end: number): void {
    for (let i = at; i < end; i += 6) {
      const value = bytes.readUInt32BE(i + 2)
      const setting = bytes.readUInt16BE(i)
      if (setting === HEADER_TABLE_SIZE) this.#leastTableBytes = Math.min(this.#leastTableBytes ?? value, value)
      else if (setting === ENABLE_PUSH && value > 1)
        throw new Http2Error(ErrorCode.protocolError, `ENABLE_PUSH is ${value}; it is 0 or 1`)
      else if (setting === INITIAL_WINDOW_SIZE) {
        if (value > MAX_WINDOW)
          throw new Http2Error(
            ErrorCode.flowControlError,
            `INITIAL_WINDOW_SIZE is ${value}; at most ${MAX_WINDOW} is allowed`,
          )
        this.initialWindow = value
      } else if (setting === MAX_FRAME_SIZE && (value < MAX_FRAME_BYTES || value > 2 ** 24 - 1))
        // Answers are sent in frames that every client takes, so the value itself does not matter.
        throw new Http2Error(ErrorCode.protocolError, `MAX_FRAME_SIZE is ${value}; it is 16384 to 16777215`)
    }
  }

  /** The least table that the client has announced since this was called last, or undefined if it announced none. */
  takeTableBytes(): number | undefined {
    const bytes = this.#leastTableBytes
    this.#leastTableBytes = undefined
    return bytes
  }
}
