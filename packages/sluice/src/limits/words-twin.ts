import type { Arithmetic, Report, Twin, Words } from './arithmetic.js'
import type { Decision } from './decision.js'

/** The twin of an arithmetic whose report tells all words of a state. */
export class WordsTwin implements Twin {
  readonly parameters: readonly number[]
  readonly reportLength: number
  readonly #arithmetic: Arithmetic
  readonly #read: (report: Report, at: number, nowUs: number, words: Words) => void
  #words: Words | undefined

  constructor(
    arithmetic: Arithmetic,
    parameters: readonly number[],
    reportLength: number,
    read: (report: Report, at: number, nowUs: number, words: Words) => void,
  ) {
    this.#arithmetic = arithmetic
    this.parameters = parameters
    this.reportLength = reportLength
    this.#read = read
  }

  decision(report: Report, at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    return this.#arithmetic.decision(this.#wordsOf(report, at, nowUs), 0, nowUs, cost, allowed)
  }

  takenUs(report: Report, at: number, nowUs: number): number {
    return this.#arithmetic.takenUs(this.#wordsOf(report, at, nowUs), 0, nowUs)
  }

  #wordsOf(report: Report, at: number, nowUs: number): Words {
    this.#words ??= new Float64Array(this.#arithmetic.words)
    this.#read(report, at, nowUs, this.#words)
    return this.#words
  }
}
