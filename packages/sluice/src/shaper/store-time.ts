/** By how much two clocks drift apart in a time, at most: clocks that are set right slowly are so by this much. */
const DRIFT = 0.0005
/** What is known as exactly as this is known. */
const EXACT_MS = 20

/**
 * Times of a store's clock by the clock of this process. An answer was made after it was asked for and before it was read,
 * and each one tells so much about how far the clocks are apart. Times are taken to be as late as they can be, so that nobody
 * leaves before it is time by the store's clock; but a slow answer, or a process that was held up before it looked, does not
 * put off what the answer is about.
 */
export class StoreTime {
  /** The clocks are so far apart, at least and at most, as of `#asOfMs`. */
  #leastMs = -Infinity
  #mostMs = Infinity
  #asOfMs = 0
  /** How quick answers are. */
  #quickestMs = 0
  /** What was asked for before then is in doubt. */
  #doubtedMs = -Infinity
  #hasDoubted = false

  /**
   * An answer was made by the store's clock at `storeMs`, and by ours between `askedMs` and `nowMs`. Is it in doubt when
   * that was? Who asks once more then knows better. Never so of one that was asked for after a doubt, for answers may be as
   * slow as that.
   */
  isInDoubt(storeMs: number, askedMs: number, nowMs: number): boolean {
    this.#learn(askedMs - storeMs, nowMs - storeMs, nowMs)
    if (askedMs < this.#doubtedMs) return true
    const tookMs = nowMs - askedMs
    const isExact = this.#mostMs - this.#leastMs <= Math.max(EXACT_MS, 2 * this.#quickestMs)
    if (!isExact && !this.#hasDoubted) {
      this.#hasDoubted = true
      this.#doubtedMs = nowMs
      return true
    }
    this.#quickestMs = isExact ? Math.min(this.#quickestMs, tookMs) : tookMs
    this.#hasDoubted = false
    return false
  }

  /** A time of the store's clock by ours, at the latest. */
  latestMs(storeMs: number): number {
    return storeMs + this.#mostMs
  }

  #learn(leastMs: number, mostMs: number, nowMs: number): void {
    const driftMs = DRIFT * Math.max(0, nowMs - this.#asOfMs)
    this.#asOfMs = nowMs
    this.#leastMs = Math.max(leastMs, this.#leastMs - driftMs)
    this.#mostMs = Math.min(mostMs, this.#mostMs + driftMs)
    if (this.#leastMs <= this.#mostMs) return
    // One of the clocks was set.
    this.#leastMs = leastMs
    this.#mostMs = mostMs
  }
}
