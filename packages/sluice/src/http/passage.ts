import { type Clock, systemClock } from '../clock.js'
import type { Decision } from '../limits/index.js'
import type { LevelDecision, Verdict } from '../policy/index.js'
import type { Awaitable } from '../stores/index.js'
import { type AnswerOptions, type Description, describeIn, verdictOfOne } from './describe.js'
import type { Dialect, Fields } from './dialect.js'
import type { Outcome } from './guard-options.js'
import { mapped } from './mapped.js'
import type { QuotaItems } from './quota-items.js'
import type { Answer, RequestLimiter } from './request-limiter.js'

/** The part of an outcome that an adapter reports. */
export type Ending = Omit<Outcome, 'taken' | 'cost'>

/** How a guard tells its answers to clients. All passages of a guard share it. */
export interface AnswerFormat {
  readonly dialects: readonly Dialect[]
  readonly options: AnswerOptions
  readonly limiter: RequestLimiter<never, unknown>
  /** If present: an admission is told by `RateLimit-Policy` and `RateLimit` with these items, and by no other field. */
  readonly plainItems: QuotaItems | undefined
}

/** Units that a request holds until its response is over. */
export interface HeldUnits {
  /** If present: call it once, when the response is over, with the response of the framework. */
  readonly settle: ((ending: Ending, response: unknown) => void) | undefined
  /** Gives back the units of a request that does not go on. */
  cancel(): void
}

/**
 * The answer to one request. The verdict, header fields and body are made when they are first asked for, because the usual
 * request needs only two texts: `policyField` and `quotaField`.
 */
export class Passage implements Description {
  readonly #format: AnswerFormat
  #answer: Answer
  readonly #held: HeldUnits | undefined
  /** The question that the limiter answered. */
  readonly question: unknown
  /** The passage of the same request through the limit before this one. */
  readonly before: Passage | undefined
  #verdict: Verdict | undefined
  #description: Description | undefined

  constructor(
    format: AnswerFormat,
    answer: Answer,
    held: HeldUnits | undefined,
    question: unknown,
    before: Passage | undefined,
  ) {
    this.#format = format
    this.#answer = answer
    this.#held = held
    this.question = question
    this.before = before
  }

  /** What counted this request. */
  get limiter(): RequestLimiter<never, unknown> {
    return this.#format.limiter
  }

  /** The option `onDenied` of the limit. Its arguments are the adapter's. */
  get onDenied(): unknown {
    return this.#format.options.onDenied
  }

  get allowed(): boolean {
    return this.#answer.allowed
  }

  /** Milliseconds until it is the request's turn. */
  get delayMs(): number {
    return this.#answer.delayMs
  }

  /** Tells when it is the request's turn. */
  get clock(): Clock {
    return this.#format.options.clock ?? systemClock
  }

  /** Whether there is nothing to wait for, to settle or to give back. */
  get goesAtOnce(): boolean {
    return this.#held === undefined && this.#answer.delayMs === 0
  }

  /**
   * Whether `policyField` and `quotaField` are all fields of this answer. Both are lists: if another limiter has set them
   * before, appending is enough.
   */
  get isPlain(): boolean {
    const { plainItems, limiter } = this.#format
    if (plainItems === undefined || !this.#answer.allowed) return false
    return this.before === undefined || !this.#earlier.some(({ name }) => name === limiter.only?.name)
  }

  /** The field `RateLimit-Policy` of a plain answer. */
  get policyField(): string {
    return (this.#format.plainItems as QuotaItems).policy
  }

  /** The field `RateLimit` of a plain answer. */
  get quotaField(): string {
    return (this.#format.plainItems as QuotaItems).remaining(this.#answer as Decision)
  }

  get verdict(): Verdict {
    const answer = this.#answer
    if ('levels' in answer) return answer
    if (this.#verdict === undefined) {
      // Written out: to copy the properties of `only` would take most of a microsecond.
      const { name, limit } = this.#format.limiter.only as LevelDecision
      this.#verdict = verdictOfOne({ name, limit, decision: answer })
    }
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

  /**
   * Gives back the units of a request that another limit denies. Afterwards the passage tells what is left with these units.
   * Both calls go to the store at once, in this order, so a store on a network answers after one round trip.
   */
  giveBack(): Awaitable<void> {
    this.cancel()
    return mapped(this.limiter.peek(this.question), (now) => {
      this.#answer = withQuotasOf(this.#answer, now)
      this.#verdict = undefined
      this.#description = undefined
    })
  }

  get #described(): Description {
    const { dialects, options } = this.#format
    this.#description ??= describeIn(this.verdict, dialects, options, this.#earlier)
    return this.#description
  }

  /** The levels of the limits that the request has passed before. */
  get #earlier(): readonly LevelDecision[] {
    const { before } = this
    return before === undefined ? [] : [...before.#earlier, ...before.verdict.levels]
  }
}

/** The same answer, with the quotas of a later look. A level that an override has changed meanwhile stays as it was. */
function withQuotasOf(answer: Answer, now: Answer): Answer {
  if (!('levels' in answer)) return 'levels' in now ? answer : withQuotaOf(answer, now)
  if (!('levels' in now)) return answer
  const levels = answer.levels.map((level, i) => {
    const { name, decision } = now.levels[i] ?? level
    return name === level.name ? { ...level, decision: withQuotaOf(level.decision, decision) } : level
  })
  return { ...answer, levels }
}

function withQuotaOf(decision: Decision, { remaining, nextUnitAfterMs, resetAfterMs }: Decision): Decision {
  return { ...decision, remaining, nextUnitAfterMs, resetAfterMs }
}
