/**
 * A key for worked examples: times are seconds, as the articles write them. It counts by the library, like every key of the
 * lab.
 */
import { type Decision, type Limit, parseLimit } from 'sluice/limits'
import { CountedKey } from '../engine/counted-key.js'

/** What became of a few requests at one time. */
export interface Sent {
  readonly admitted: number
  readonly denied: number
  /** The decision about the last of them. */
  readonly last: Decision
  /** The longest time that one of them waits for its turn. */
  readonly longestWaitMs: number
}

export class WorkedKey {
  readonly #key: CountedKey
  /** Since the epoch; worked examples begin at 0 unless they name a date. */
  #lastS = 0

  constructor(limit: object) {
    this.#key = new CountedKey(parseLimit(limit) as Limit)
  }

  /** Sends so many requests at a second that is not before the last one. */
  send(atS: number, count = 1): Sent {
    this.#lastS = atS
    let admitted = 0
    let longestWaitMs = 0
    let last = this.#key.take(us(atS), 1)
    for (let i = 1; ; i++) {
      if (last.allowed) admitted++
      longestWaitMs = Math.max(longestWaitMs, last.delayMs)
      if (i >= count) break
      last = this.#key.take(us(atS), 1)
    }
    return { admitted, denied: count - admitted, last, longestWaitMs }
  }

  /** Units left, with the fraction that a bucket has gained, at a second that is not before the last request. */
  left(atS = this.#lastS): string {
    return figureText(this.#key.level(us(atS)))
  }
}

function us(seconds: number): number {
  return Math.round(seconds * 1e6)
}

/** `1,000`, `0.5`, `0.998`: a number as a table of figures shows it. */
export function figureText(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 3 })
}

/** `allowed`, or `denied`. */
export function outcomeText({ last }: Sent): string {
  return last.allowed ? 'allowed' : 'denied'
}
