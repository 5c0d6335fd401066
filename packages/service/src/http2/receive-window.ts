import { ErrorCode, Http2Error } from './http2-error.js'

/** What every window has before anything is announced. */
export const USUAL_WINDOW = 65_535
/** What a client may send on a connection before the server has read it. */
export const CONNECTION_WINDOW = 1_048_576
/** The same on one stream. */
export const STREAM_WINDOW = 262_144

/**
 * The window of what comes on a connection. What has come is read at once, and bounded elsewhere, so all of it is credited;
 * but not before half of the window is used, because a frame for each call would cost as much as the call.
 */
export class ReceiveWindow {
  #uncredited = 0

  take(bytes: number): void {
    this.#uncredited += bytes
    if (this.#uncredited > CONNECTION_WINDOW)
      throw new Http2Error(ErrorCode.flowControlError, 'more DATA than the window of the connection allows')
  }

  /** The bytes to credit now, or 0. */
  credit(): number {
    if (this.#uncredited < CONNECTION_WINDOW / 2) return 0
    const bytes = this.#uncredited
    this.#uncredited = 0
    return bytes
  }
}
