import type { Arithmetic, Decision } from '../../limits/index.js'
import type { WordArithmetic } from './word-arithmetic.js'

/** The limit that allows everything. It uses nothing, so its words are never written. */
export class UnlimitedWords implements WordArithmetic {
  readonly arithmetic: Arithmetic
  readonly #startUs: number
  readonly #report = { nowUs: 0, tokens: 0, aheadUs: 0, numbers: [], at: 0 }

  constructor(arithmetic: Arithmetic, startUs: number) {
    this.arithmetic = arithmetic
    this.#startUs = startUs
  }

  used(): number {
    return 0
  }

  fits(): boolean {
    return true
  }

  plus(): number {
    return 0
  }

  minus(): number {
    return 0
  }

  write(): void {}

  decision(_used: number, _word: unknown, _nowUs: number, cost: number, allowed: boolean): Decision {
    return this.arithmetic.remote.decision(this.#report, cost, allowed)
  }

  takenUs(_used: number, _word: unknown, nowUs: number): number {
    return this.#startUs + nowUs
  }
}
