/** For so long the quickest answer counts, and no longer than twice that, because clocks drift. */
const SPAN_MS = 1000

/**
 * Times of a store's clock by the clock of this process. An answer comes some time after it was made; how long, nobody knows,
 * but the quickest of late was made at the latest when its like would have come now. So a slow answer, or a process that was
 * held up before it looked, does not put off what the answer is about.
 */
export class StoreTime {
  /** Least distance between the two clocks in this span, with the way of the answer, and in the one before. */
  #leastMs = Infinity
  #earlierMs = Infinity
  #sinceMs = -Infinity

  /** When an answer was made, at the latest: by the store's clock at `storeMs`, and by ours between `askedMs` and `nowMs`. */
  madeMs(storeMs: number, askedMs: number, nowMs: number): number {
    const distanceMs = nowMs - storeMs
    if (nowMs - this.#sinceMs > SPAN_MS) {
      this.#earlierMs = nowMs - this.#sinceMs > 2 * SPAN_MS ? Infinity : this.#leastMs
      this.#leastMs = Infinity
      this.#sinceMs = nowMs
    }
    this.#leastMs = Math.min(this.#leastMs, distanceMs)
    // Whatever a clock that was set may have made of the distance, it was after the question.
    return Math.max(askedMs, storeMs + Math.min(this.#leastMs, this.#earlierMs))
  }
}
