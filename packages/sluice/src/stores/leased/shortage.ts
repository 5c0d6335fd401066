/**
 * What the store lacked when it was asked last: for how long it has no unit to lend, and which cost it denied. While that
 * holds, this process denies by itself.
 */
export class Shortage {
  #dryUntilMs = -Infinity
  /** Until `#deniedUntilMs` the store denies this cost and larger ones. It is worth asking again at `#againMs`. */
  #deniedCost = Infinity
  #deniedUntilMs = -Infinity
  #againMs = -Infinity

  /** Has the store no more units than it granted last? */
  isDry(nowMs: number): boolean {
    return nowMs < this.#dryUntilMs
  }

  denies(cost: number, nowMs: number): boolean {
    return nowMs < this.#dryUntilMs || (cost >= this.#deniedCost && nowMs < this.#deniedUntilMs)
  }

  /** When a request of this cost that is denied now may ask again. */
  againMs(cost: number): number {
    return cost >= this.#deniedCost ? Math.max(this.#dryUntilMs, this.#againMs) : this.#dryUntilMs
  }

  dryUntil(untilMs: number): void {
    this.#dryUntilMs = untilMs
  }

  /** The store denied a request of this cost, and said when it is worth asking again. Is remembered at most until `untilMs`. */
  denied(cost: number, againMs: number, untilMs: number): void {
    this.#deniedCost = cost
    this.#againMs = againMs
    this.#deniedUntilMs = Math.min(againMs, untilMs)
  }

  forget(): void {
    this.#dryUntilMs = -Infinity
    this.#deniedUntilMs = -Infinity
    this.#deniedCost = Infinity
  }
}
