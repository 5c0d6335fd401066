/** What every window has before anything is announced. */
export const USUAL_WINDOW = 65_535
/** What a client may send on a connection before the server has read it. */
export const CONNECTION_WINDOW = 1_048_576
/** The same on one stream. */
export const STREAM_WINDOW = 262_144

/**
 * Counts what has come on a connection, to credit it. All of it is credited: it was read at once, and what a call may keep of
 * it is bounded elsewhere. So a client cannot exceed a window by more than it has not been told yet. Credit comes when half
 * of the window is used, because a frame for each call would cost as much as the call.
 */
export class ReceiveWindow {
  #uncredited = 0

  take(bytes: number): void {
    this.#uncredited += bytes
  }

  /** The bytes to credit now, or 0. */
  credit(): number {
    if (this.#uncredited < CONNECTION_WINDOW / 2) return 0
    const bytes = this.#uncredited
    this.#uncredited = 0
    return bytes
  }
}
