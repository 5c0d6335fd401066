import { invalidType, reasonOf, warn } from '../errors.js'
import type { CostOptions } from '../limiter/index.js'
import { isConcurrency, isUnlimited, type Limit } from '../limits/index.js'
import type { Verdict } from '../policy/index.js'
import type { Awaitable } from '../stores/index.js'
import type { RequestReader } from './client-address.js'
import { checkDialects } from './dialect.js'
import { checkGuardOptions, type GuardOptions } from './guard-options.js'
import type { LimitCounts } from './limit-names.js'
import { atOnce, isLater, mapped } from './mapped.js'
import { type AnswerFormat, type Ending, type HeldUnits, Passage } from './passage.js'
import { QuotaItems } from './quota-items.js'
import { lastPassage } from './rate-limit-of.js'
import { type Answer, type RequestLimiter, type RequestReservation, requestLimiter } from './request-limiter.js'
import { openNotes } from './request-notes.js'
import { costOf, expectCost } from './set-cost.js'

/** How a request enters. */
export interface EnterOptions {
  /** True if another guard comes after this one: `cancel` of the passage gives the units back when the other guard denies. */
  readonly mustHold?: boolean
  /** True if one request may be counted several times, as a GraphQL query with several fields is. */
  readonly mayRepeat?: boolean
}

const USUAL: EnterOptions = {}

const TWICE =
  'a request met the same limiter twice under the same key, and counts once: remove one of the two limiters. To count a ' +
  'request several times, give rateLimit a cost; in a test, send a new request object each time'

function twoNamed(name: string): string {
  return (
    `a request met two limits named '${name}' on one store, with different numbers, and counts by both in one state: give ` +
    'each limit a name of its own'
  )
}

/**
 * Decides on requests, the same way for every framework: the adapter reads the request, the guard decides, the adapter
 * carries the passage out. If the store and the functions among the options answer synchronously, so does the guard.
 */
export class Guard<Request extends object, Response = unknown> {
  readonly #limiter: RequestLimiter<Request, unknown>
  readonly #format: AnswerFormat
  readonly #options: GuardOptions<Request, Response>
  readonly #serverRequest: RequestReader<Request>['serverRequest']
  /** The same for every request, unless the cost is a function. */
  readonly #cost: CostOptions | undefined
  /** The codes of warnings that were made: each is made once. */
  readonly #warned = new Set<string>()

  /** `more` are the names of options that only the adapter uses. Errors say that `what` takes the options. */
  constructor(
    options: GuardOptions<Request, Response>,
    reader: RequestReader<Request>,
    more: readonly string[] = [],
    what = 'rateLimit',
  ) {
    this.#options = { ...checkGuardOptions(options, more, what) }
    this.#limiter = requestLimiter(options, reader)
    this.#serverRequest = reader.serverRequest?.bind(reader)
    const { expose, cost, dialect } = options
    const { only } = this.#limiter
    const dialects = checkDialects(dialect)
    const isPlain = dialects.length === 1 && dialects[0] === 'draft' && expose !== true
    const hasPlainItems = isPlain && only !== undefined && !isUnlimited(only.limit)
    this.#format = {
      dialects,
      options: this.#options,
      limiter: this.#limiter,
      plainItems: hasPlainItems ? new QuotaItems(only.limit, only.name) : undefined,
    }
    this.#cost = typeof cost === 'number' ? { cost } : undefined
  }

  /** `undefined` if the rule is a policy or a function of the request. */
  get counts(): LimitCounts | undefined {
    const { source, only, name, rulesOf } = this.#limiter
    return only && { source, name, rules: rulesOf(undefined) }
  }

  /**
   * Decides on a request. Returns nothing for a request that `skip` lets through, or that the same limiter has counted
   * already under the same key.
   */
  enter(request: Request, how: EnterOptions = USUAL): Awaitable<Passage | undefined> {
    const { skip, settle } = this.#options
    if (settle !== undefined) expectCost(request)
    if (skip === undefined) return this.#decide(request, how)
    const address = this.#limiter.addressOf(request) as string
    return mapped(skip(request, address), (answer) => (isSkipped(answer) ? undefined : this.#decide(request, how)))
  }

  /** Functions are called one after the other: `cost`, then `key` and `limit`, or `attributes`. */
  #decide(request: Request, how: EnterOptions): Awaitable<Passage | undefined> {
    const { cost } = this.#options
    if (typeof cost !== 'function') return this.#ask(request, this.#cost, how)
    return mapped(cost(request), (units) => this.#ask(request, { cost: units }, how))
  }

  #ask(request: Request, cost: CostOptions | undefined, how: EnterOptions): Awaitable<Passage | undefined> {
    const question = this.#limiter.question(request)
    return question instanceof Promise
      ? question.then((later) => this.#answer(request, later, cost, how))
      : this.#answer(request, question, cost, how)
  }

  #answer(
    request: Request,
    question: unknown,
    cost: CostOptions | undefined,
    { mustHold, mayRepeat }: EnterOptions,
  ): Awaitable<Passage | undefined> {
    const before = this.#passageBefore(request)
    const same = before === undefined || mayRepeat === true ? undefined : this.#samePassage(before, question)
    if (same !== undefined) {
      this.#warnOnce('SLUICE_TWICE', TWICE)
      // A request that was denied and comes again all the same is denied again.
      return same.allowed ? undefined : same
    }
    if (mustHold === true || this.#options.settle !== undefined || this.#limiter.holds(question))
      return mapped(this.#limiter.reserve(question, cost), (reservation) =>
        this.#holding(request, question, cost?.cost ?? 1, reservation),
      )
    const answer = this.#limiter.check(question, cost)
    return answer instanceof Promise
      ? answer.then((later) => this.#passage(request, question, later, undefined))
      : this.#passage(request, question, answer, undefined)
  }

  /** The passage through the limit before this one, which may be in front of the framework. */
  #passageBefore(request: Request): Passage | undefined {
    const last = lastPassage(request)
    return last !== undefined || this.#serverRequest === undefined ? last : lastPassage(this.#serverRequest(request))
  }

  /**
   * The passage of the same request in which the same limiter was asked the same. A limiter that has only the name and the
   * store of this one is another one: it may be less strict.
   */
  #samePassage(last: Passage, question: unknown): Passage | undefined {
    const { source, name } = this.#limiter
    for (let each: Passage | undefined = last; each !== undefined; each = each.before) {
      const { limiter } = each
      if (limiter.source !== source || limiter.name !== name) continue
      if (limiter.textOf(each.question) !== this.#limiter.textOf(question)) continue
      if (limiter.rulesOf(each.question) === this.#limiter.rulesOf(question)) return each
      if (this.#options.policy === undefined) this.#warnOnce('SLUICE_NAME', twoNamed(name))
    }
    return undefined
  }

  /** Notes the answer for `rateLimitOf`, and tells `onDecision`. */
  #passage(request: Request, question: unknown, answer: Answer, held: HeldUnits | undefined): Passage {
    const passage = new Passage(this.#format, answer, held, question, this.#passageBefore(request))
    openNotes(request).passage = passage
    if (this.#options.onDecision !== undefined) this.#tell(passage.verdict, request)
    return passage
  }

  /** An error of `onDecision` is a warning: what counts and logs decisions must not change them. */
  #tell(verdict: Verdict, request: Request): void {
    try {
      const told: unknown = this.#options.onDecision?.(verdict, request)
      if (isLater(told)) Promise.resolve(told).catch((error) => this.#warnOfDecision(error))
    } catch (error) {
      this.#warnOfDecision(error)
    }
  }

  #warnOfDecision(error: unknown): void {
    const what = 'onDecision failed, and the decision stands; later failures are not reported'
    this.#warnOnce('SLUICE_ON_DECISION', `${what}: ${reasonOf(error)}`)
  }

  #warnOnce(code: string, message: string): void {
    if (this.#warned.has(code)) return
    this.#warned.add(code)
    warn(message, code)
  }

  /** The passage of a request that holds its units until its response is over. */
  #holding(request: Request, question: unknown, taken: number, reservation: RequestReservation): Passage {
    const unitsOf = this.#options.settle
    const answer = 'verdict' in reservation ? reservation.verdict : reservation.decision
    const levels = 'levels' in answer ? answer.levels : [this.#limiter.only as { limit: Limit }]
    const hasPlaces = levels.some(({ limit }) => isConcurrency(limit))
    const settle = (ending: Ending, response: unknown) => {
      if (hasPlaces) carefully(() => ('release' in reservation ? reservation.release() : reservation.cancel()))
      if (unitsOf === undefined) return
      carefully(() =>
        reservation.settle(
          atOnce(
            'settle',
            unitsOf({ ...ending, taken, cost: costOf(request) }, request, response as Response),
          ) as number,
        ),
      )
    }
    return this.#passage(request, question, answer, {
      settle: answer.allowed && (hasPlaces || unitsOf !== undefined) ? settle : undefined,
      cancel: () => carefully(() => reservation.cancel()),
    })
  }
}

/** Checks the answer of `skip`: a text or an object would count as true and let every request through. */
function isSkipped(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw invalidType('skip', 'a function that returns true or false, or a promise of it', answer)
}

/** Turns an error into a warning: the response is over, so no caller is left to throw to. */
async function carefully(run: () => Awaitable<unknown>): Promise<void> {
  try {
    await run()
  } catch (error) {
    warn(`a request could not be settled, and the units it took stay taken: ${reasonOf(error)}`, 'SLUICE_SETTLE')
  }
}
