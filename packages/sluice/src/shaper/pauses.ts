/** Until when keys are to be left alone. */
export class Pauses {
  readonly #untilMs = new Map<string, number>()
  /** When there are so many, those that are over are forgotten. */
  #most = 64

  untilMs(key: string): number {
    return this.#untilMs.size === 0 ? -Infinity : (this.#untilMs.get(key) ?? -Infinity)
  }

  /** A pause never shortens another. */
  add(key: string, untilMs: number, nowMs: number): void {
    if (untilMs <= this.untilMs(key)) return
    this.#untilMs.set(key, untilMs)
    if (this.#untilMs.size > this.#most) this.#forget(nowMs)
  }

  #forget(nowMs: number): void {
    for (const [key, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(key)
    this.#most = Math.max(64, 2 * this.#untilMs.size)
  }
}
