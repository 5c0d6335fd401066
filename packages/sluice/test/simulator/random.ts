/** Random numbers that a seed determines: the same seed gives the same numbers in every run. Mulberry32. */
export class Random {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  between(from: number, to: number): number {
    return from + (to - from) * this.next()
  }

  /** A whole number from 0, below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]
  }

  /** The time between two events that come independently of each other. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next())
  }
}
