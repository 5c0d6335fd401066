import type { LevelDecision, Verdict } from '../policy/index.js'
import { type DescribeOptions, type Description, describeIn, verdictOfOne } from './describe.js'
import type { Dialect, Fields } from './dialect.js'
import type { Outcome } from './guard-options.js'
import type { QuotaItems } from './quota-items.js'
import type { Answer } from './request-limiter.js'

/** The part of an outcome that an adapter reports. */
export type Ending = Omit<Outcome, 'taken' | 'cost'>

/** How a guard tells its answers to clients. All passages of a guard share it. */
export interface AnswerFormat {
  readonly dialects: readonly Dialect[]
  readonly options: DescribeOptions
  /** The guard's limit, if it has one and not a policy. */
  readonly only: Omit<LevelDecision, 'decision'> | undefined
  /** Whether an admission is told by `RateLimit-Policy` and `RateLimit` and nothing else. */
  readonly isPlain: boolean
  /** The items of those two fields, if there is one limit and `isPlain`. */
  readonly items: QuotaItems | undefined
}

/** Units that a request holds until its response is over. */
export interface HeldUnits {
  readonly settle: ((ending: Ending) => void) | undefined
  cancel(): void
}

/** The work of an adapter for an allowed request: wait for its turn, and settle it when its response is over. */
export interface Admission {
  /** Whether there is nothing to wait for, to settle or to give back. */
  readonly goesAtOnce: boolean
  /** Milliseconds until it is the request's turn. */
  readonly delayMs: number
  /** If present: call it once, when the response is over. */
  readonly settle: HeldUnits['settle']
  /** Gives back the units of a request that does not go on. */
  cancel(): void
}

/**
 * The answer to one request. The verdict, header fields and body are made when they are first asked for, because the usual
 * request needs none but two texts: `policyField` and `quotaField`.
 */
export class Passage implements Admission, Description {
  readonly #format: AnswerFormat
  readonly #answer: Answer
  readonly #held: HeldUnits | undefined
  #verdict: Verdict | undefined
  #description: Description | undefined

  constructor(format: AnswerFormat, answer: Answer, held: HeldUnits | undefined) {
    this.#format = format
    this.#answer = answer
    this.#held = held
  }

  get allowed(): boolean {
    return this.#answer.allowed
  }

  get delayMs(): number {
    return this.#answer.delayMs
  }

  get goesAtOnce(): boolean {
    return this.#held === undefined && this.#answer.delayMs === 0
  }

  /**
   * Whether `policyField` and `quotaField` are all fields of this answer. Both are lists: if another limiter has set them
   * before, appending is enough.
   */
  get isPlain(): boolean {
    const { isPlain, items } = this.#format
    return isPlain && this.#answer.allowed && (items !== undefined || this.headers.RateLimit !== undefined)
  }

  /** The field `RateLimit-Policy` of a plain answer. */
  get policyField(): string {
    return this.#format.items?.policy ?? this.headers['RateLimit-Policy']
  }

  /** The field `RateLimit` of a plain answer. */
  get quotaField(): string {
    const answer = this.#answer
    const { items } = this.#format
    return items === undefined || 'levels' in answer ? this.headers.RateLimit : items.remaining(answer)
  }

  get verdict(): Verdict {
    const answer = this.#answer
    if ('levels' in answer) return answer
    this.#verdict ??= verdictOfOne({ ...(this.#format.only as LevelDecision), decision: answer })
    return this.#verdict
  }

  get status(): number {
    return this.#described.status
  }

  get headers(): Readonly<Fields> {
    return this.#described.headers
  }

  get body(): string | undefined {
    return this.#described.body
  }

  get settle(): HeldUnits['settle'] {
    return this.#held?.settle
  }

  cancel(): void {
    this.#held?.cancel()
  }

  get #described(): Description {
    const { dialects, options } = this.#format
    this.#description ??= describeIn(this.verdict, dialects, options)
    return this.#description
  }
}

/** Combines the admissions of two guards. An absent admission means that the guard skipped the request. */
export function bothAdmissions(first: Admission | undefined, second: Admission | undefined): Admission {
  const both = [first, second].filter((each) => each !== undefined)
  const settles = both.map(({ settle }) => settle).filter((settle) => settle !== undefined)
  const settleAll = (ending: Ending) => {
    for (const settle of settles) settle(ending)
  }
  return {
    goesAtOnce: both.every(({ goesAtOnce }) => goesAtOnce),
    delayMs: Math.max(0, ...both.map(({ delayMs }) => delayMs)),
    settle: settles.length === 0 ? undefined : settleAll,
    cancel() {
      for (const each of both) each.cancel()
    },
  }
}
