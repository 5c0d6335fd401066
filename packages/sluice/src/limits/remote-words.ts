import type { Arithmetic, RemoteArithmetic, Report, Words } from './arithmetic.js'
import type { Decision } from './decision.js'

/** A remote arithmetic whose reports tell every word of a state. `read` writes a report's words to the start of an array. */
export class RemoteWords implements RemoteArithmetic {
  readonly parameters: readonly number[]
  readonly reportLength: number
  readonly #arithmetic: Arithmetic
  readonly #read: (report: Report, words: Words) => void
  /** Scratch for one report at a time: each call fills it and reads it before it returns. */
  #words: Words | undefined

  constructor(
    arithmetic: Arithmetic,
    parameters: readonly number[],
    reportLength: number,
    read: (report: Report, words: Words) => void,
  ) {
    this.#arithmetic = arithmetic
    this.parameters = parameters
    this.reportLength = reportLength
    this.#read = read
  }

  decision(report: Report, cost: number, allowed: boolean): Decision {
    return this.#arithmetic.decision(this.#wordsOf(report), 0, report.nowUs, cost, allowed)
  }

  takenUs(report: Report): number {
    return this.#arithmetic.takenUs(this.#wordsOf(report), 0, report.nowUs)
  }

  #wordsOf(report: Report): Words {
    this.#words ??= new Float64Array(this.#arithmetic.words)
    this.#read(report, this.#words)
    return this.#words
  }
}
