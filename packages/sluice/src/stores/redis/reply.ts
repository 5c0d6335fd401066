import { type Arithmetic, blockedDecision, type Decision, type Report } from '../../limits/index.js'

const USUAL = 0
const BLOCKED = 1
const FOREIGN = 3

/** A state that no limit wrote is in the way. */
export class ForeignState extends Error {
  constructor(key: string) {
    super(`the Redis key ${key} holds a value that no limit wrote`)
  }
}

/** What the script said of one demand. */
export interface Reported extends Report {
  readonly arithmetic: Arithmetic
  readonly fits: boolean
  /** How long the key is still blocked: 0 if it is not. */
  readonly blockedUs: number
}

/** Reads a reply of the script from one demand to the next: see lua/main.lua for what the numbers mean. */
export class Reply {
  readonly nowUs: number
  readonly #numbers: ArrayLike<number>
  readonly #raw: readonly unknown[]
  #at = 1

  constructor(reply: unknown) {
    if (!Array.isArray(reply) || reply.length === 0) throw new Error('Redis replied to the script with something else')
    this.#raw = reply
    // Some clients can be told to give numbers as text.
    this.#numbers = typeof reply[0] === 'number' ? reply : reply.map(Number)
    this.nowUs = this.#numbers[0]
    if (!Number.isSafeInteger(this.nowUs)) throw new Error('Redis replied to the script without its time')
  }

  /** The next demand's state; nothing if it is not ours. */
  next(arithmetic: Arithmetic): Reported | undefined {
    const numbers = this.#numbers
    const nowUs = this.nowUs
    const head = this.#next()
    const level = Math.floor(head / 8)
    const flags = head - level * 8
    const fits = (flags & 1) === 1
    const kind = flags >> 1
    if (kind === FOREIGN) return undefined
    const blockedUs = kind === BLOCKED ? this.#next() - nowUs : 0
    const aheadUs = kind === USUAL ? 0 : this.#next()
    const fullLevel = kind === USUAL ? level : this.#next()
    const at = this.#at
    this.#at += arithmetic.remote.reportLength
    return { arithmetic, nowUs, level: fullLevel, aheadUs, numbers, at, fits, blockedUs }
  }

  /** The next number, of a step that reports no state. */
  number(): number {
    return this.#next()
  }

  text(): string {
    this.#next()
    return String(this.#raw[this.#at - 1])
  }

  /** The answer to a step that reports no state: was it done? */
  isDone(): boolean {
    return this.#next() >> 1 !== FOREIGN
  }

  #next(): number {
    const number = this.#numbers[this.#at++]
    if (number === undefined) throw new Error('Redis replied to the script with too little')
    return number
  }
}

/** The answer to a demand for `cost`, which was taken or refused. */
export function decisionOf(reported: Reported, cost: number): Decision {
  const decision = reported.arithmetic.remote.decision(reported, cost, reported.fits)
  return reported.blockedUs > 0 ? blockedDecision(decision, reported.blockedUs) : decision
}

export function takenUsOf(reported: Reported): number {
  return reported.arithmetic.remote.takenUs(reported)
}
