/** Two clocks drift apart by at most this share of the time that passes: clocks are corrected no faster than that. */
const DRIFT = 0.0005
/** If the gap between two clocks is known this closely, it counts as known. */
const EXACT_MS = 20

/**
 * Converts times of a store's clock to the clock of this process.
 *
 * The store makes an answer after it was asked and before the answer is read. So each answer bounds the gap between the
 * clocks from both sides, and the tightest bounds of all answers count. Times are converted by the upper bound: nothing
 * happens before it is time by the store's clock. Example: after one answer that took 2 ms, an answer that takes 40 ms
 * still tells its time to within 2 ms. So a slow answer, or a process that was held up, does not delay the slot.
 */
export class StoreTime {
  /** Bounds of the gap: our clock minus the store's clock, as of `#asOfMs`. */
  #leastGapMs = -Infinity
  #mostGapMs = Infinity
  #asOfMs = 0
  /** How long a quick answer takes. */
  #quickestMs = 0
  /** Answers to questions asked before this time are in doubt. */
  #doubtUntilMs = -Infinity
  #hasDoubted = false

  /** The largest possible gap: our clock minus the store's clock. */
  get mostGapMs(): number {
    return this.#mostGapMs
  }

  /**
   * Learns from an answer that the store made at `storeMs` by its clock, between `askedMs` and `nowMs` by ours.
   *
   * Returns false if the gap is too uncertain to rely on. Then the caller asks the store again before it uses the answer.
   * The answer to a question that was asked after a doubt is always accepted, because answers may simply be that slow.
   */
  learn(storeMs: number, askedMs: number, nowMs: number): boolean {
    this.#narrow(askedMs - storeMs, nowMs - storeMs, nowMs)
    if (askedMs < this.#doubtUntilMs) return false
    const tookMs = nowMs - askedMs
    const isExact = this.#mostGapMs - this.#leastGapMs <= Math.max(EXACT_MS, 2 * this.#quickestMs)
    if (!isExact && !this.#hasDoubted) {
      this.#hasDoubted = true
      this.#doubtUntilMs = nowMs
      return false
    }
    this.#quickestMs = isExact ? Math.min(this.#quickestMs, tookMs) : tookMs
    this.#hasDoubted = false
    return true
  }

  #narrow(leastMs: number, mostMs: number, nowMs: number): void {
    const driftMs = DRIFT * Math.max(0, nowMs - this.#asOfMs)
    this.#asOfMs = nowMs
    this.#leastGapMs = Math.max(leastMs, this.#leastGapMs - driftMs)
    this.#mostGapMs = Math.min(mostMs, this.#mostGapMs + driftMs)
    if (this.#leastGapMs <= this.#mostGapMs) return
    // The bounds contradict each other: one of the clocks was set. Start again from this answer.
    this.#leastGapMs = leastMs
    this.#mostGapMs = mostMs
  }
}
