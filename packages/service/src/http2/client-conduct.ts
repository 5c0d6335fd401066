import type { Bounds } from './bounds.js'
import { FrameBudget } from './frame-budget.js'
import { ErrorCode, Http2Error } from './http2-error.js'

/** Frames that make no progress, for each call that does. */
const FRAMES_PER_CALL = 4

/**
 * Counts what a client does that costs the server work and brings no call nearer to its answer. Too much of it ends the
 * connection with ENHANCE_YOUR_CALM.
 */
export class ClientConduct {
  nowMs = 0
  readonly #idleFrames: FrameBudget
  readonly #resets: FrameBudget

  constructor({ idleFrames, idleFramesPerSecond, resets, resetsPerSecond }: Bounds) {
    this.#idleFrames = new FrameBudget(idleFrames, idleFramesPerSecond)
    this.#resets = new FrameBudget(resets, resetsPerSecond)
  }

  /** A frame such as PING, SETTINGS, PRIORITY, WINDOW_UPDATE, an empty DATA, or one of an unknown type. */
  idleFrame(): void {
    if (!this.#idleFrames.take(this.nowMs))
      throw new Http2Error(ErrorCode.enhanceYourCalm, 'too many frames that make no progress')
  }

  /** A call that the client reset rapidly before its end, or made the server reset. */
  reset(): void {
    if (!this.#resets.take(this.nowMs)) throw new Http2Error(ErrorCode.enhanceYourCalm, 'too many calls were reset')
  }

  /** A request is complete. */
  progress(): void {
    this.#idleFrames.earn(FRAMES_PER_CALL)
  }
}
