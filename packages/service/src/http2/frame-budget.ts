/**
 * Allows so many frames at once and so many a second. It takes the time as an argument; the caller asks only when a frame of
 * the rare kind comes.
 */
export class FrameBudget {
  readonly #most: number
  readonly #perMs: number
  #left: number
  #sinceMs = 0

  constructor(most: number, perSecond: number) {
    this.#most = most
    this.#perMs = perSecond / 1_000
    this.#left = most
  }

  /** Takes one frame from the budget. False if there is none left. */
  take(nowMs: number): boolean {
    const earned = (nowMs - this.#sinceMs) * this.#perMs
    if (earned >= 1) {
      this.#left = Math.min(this.#most, this.#left + earned)
      this.#sinceMs = nowMs
    }
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /** A client that makes progress may send more frames that make none. */
  earn(frames: number): void {
    if (this.#left < this.#most) this.#left += frames
  }
}
