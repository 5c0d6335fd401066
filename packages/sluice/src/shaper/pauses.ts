/** Forget pauses that are over once there are more than this many. */
const FEW_PAUSES = 64

/**
 * Until when the callers of a shaper may not leave: all of them, or those of a key. The two kinds are apart: the end of one
 * does not end the other. A pause until `Infinity` lasts until it is ended.
 */
export class Pauses {
  #allUntilMs = -Infinity
  readonly #untilMs = new Map<string, number>()
  #mostPauses = FEW_PAUSES

  get isEmpty(): boolean {
    return this.#allUntilMs === -Infinity && this.#untilMs.size === 0
  }

  /** Until when no caller of the key may leave or, without a key, no caller at all. It may be in the past. */
  untilMs(key: string | undefined): number {
    return Math.max(this.#allUntilMs, this.#ownUntilMs(key))
  }

  /** Pauses a key or, without one, all callers. Returns false if that is paused for longer already. */
  begin(key: string | undefined, untilMs: number, nowMs: number): boolean {
    if (untilMs <= this.#ownUntilMs(key)) return false
    if (key === undefined) this.#allUntilMs = untilMs
    else this.#untilMs.set(key, untilMs)
    if (this.#untilMs.size > this.#mostPauses) this.#forgetUntil(nowMs)
    return true
  }

  /** Ends the pause of a key or, without one, the pause of all callers. Returns false if there was none. */
  end(key: string | undefined): boolean {
    if (key !== undefined) return this.#untilMs.delete(key)
    const wasPaused = this.#allUntilMs > -Infinity
    this.#allUntilMs = -Infinity
    return wasPaused
  }

  /** Ends the pauses that do not end by themselves. */
  endEndless(): void {
    if (this.#allUntilMs === Infinity) this.#allUntilMs = -Infinity
    for (const [key, untilMs] of this.#untilMs) if (untilMs === Infinity) this.#untilMs.delete(key)
  }

  #ownUntilMs(key: string | undefined): number {
    return key === undefined ? this.#allUntilMs : (this.#untilMs.get(key) ?? -Infinity)
  }

  #forgetUntil(nowMs: number): void {
    for (const [key, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(key)
    this.#mostPauses = Math.max(FEW_PAUSES, 2 * this.#untilMs.size)
  }
}
