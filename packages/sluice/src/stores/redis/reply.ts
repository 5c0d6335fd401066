import { type Arithmetic, blockedDecision, type Decision, type Report } from '../../limits/index.js'

const FITS = 1
const BLOCKED = 2
const FOREIGN = 4

/** A state that no limit wrote is in the way. */
export class ForeignState extends Error {
  constructor(key: string) {
    super(`the Redis key ${key} holds a value that no limit wrote`)
  }
}

/** What the script said of one demand. */
export interface Reported {
  readonly arithmetic: Arithmetic
  /** Where its report begins. */
  readonly at: number
  readonly fits: boolean
  /** How long the key is still blocked: 0 if it is not. */
  readonly blockedUs: number
}

/** Reads a reply of the script from one demand to the next: see lua/main.lua for what the numbers mean. */
export class Reply {
  readonly nowUs: number
  readonly #numbers: Report
  #at = 1

  constructor(reply: unknown) {
    if (!Array.isArray(reply) || reply.length === 0) throw new Error('Redis replied to the script with something else')
    // Some clients can be told to give numbers as text.
    this.#numbers = typeof reply[0] === 'number' ? reply : reply.map(Number)
    this.nowUs = this.#numbers[0]
  }

  /** The next demand's state. Of a foreign one there is nothing to read, and the next is where it should be. */
  next(arithmetic: Arithmetic): Reported | undefined {
    const status = this.#numbers[this.#at++]
    if (status === undefined) throw new Error('Redis replied to the script with too little')
    if (status === FOREIGN) return undefined
    const blockedUs = (status & BLOCKED) === 0 ? 0 : this.#numbers[this.#at++] - this.nowUs
    const at = this.#at
    this.#at += arithmetic.twin.reportLength
    return { arithmetic, at, fits: (status & FITS) !== 0, blockedUs }
  }

  /** The answer to a demand for `cost`, which was taken or refused. */
  decision({ arithmetic, at, fits, blockedUs }: Reported, cost: number): Decision {
    const decision = arithmetic.twin.decision(this.#numbers, at, this.nowUs, cost, fits)
    return blockedUs > 0 ? blockedDecision(decision, blockedUs) : decision
  }

  takenUs({ arithmetic, at }: Reported): number {
    return arithmetic.twin.takenUs(this.#numbers, at, this.nowUs)
  }

  /** The answer to a step that reports no state: was it done? */
  isDone(): boolean {
    return this.#numbers[this.#at++] !== FOREIGN
  }
}
