import { invalidType } from '../errors.js'
import { isConcurrency } from '../limits/index.js'
import type { Verdict } from '../policy/index.js'
import type { Awaitable } from '../stores/index.js'
import { reasonOf, warn } from '../stores/warn.js'
import { type DescribeOptions, type Description, describeIn } from './describe.js'
import { checkDialects, type Dialect } from './dialects.js'
import { type Gate, gateOf, type Held, mapped } from './gate.js'
import { atOnce, checkGuardOptions, type Ending, type GuardOptions } from './guard-options.js'
import { PlainLimit } from './plain-limit.js'
import { costOf, expectCost } from './request-cost.js'
import { type RequestReader, requestFacts } from './request-facts.js'

/** One request's way through a guard. */
export interface Passage extends Description {
  readonly allowed: boolean
  /** How long it waits for its turn. */
  readonly delayMs: number
  readonly verdict: Verdict
  /** Are its fields just `RateLimit-Policy` and `RateLimit`, lists to which several limiters may add a line each? */
  readonly isPlain: boolean
  /** Present where the response is to be told of, when it is over. */
  readonly settle: ((ending: Ending) => void) | undefined
  /** Does it hold units that can be settled or given back? */
  readonly holds: boolean
  /** The request never went: what it holds is given back. */
  readonly cancel: () => void
}

/**
 * What every adapter has inside: decides on a request and says what its response is to look like. Where the store answers
 * at once, so does a guard.
 */
export class Guard<Request extends object> {
  readonly #gate: Gate<Request>
  readonly #dialects: readonly Dialect[]
  readonly #describe: DescribeOptions
  readonly #cost: GuardOptions<Request>['cost']
  readonly #settle: GuardOptions<Request>['settle']
  readonly #skip: GuardOptions<Request>['skip']
  readonly #holds: boolean
  readonly #isPlain: boolean
  readonly #plain: PlainLimit<Request> | undefined

  /** `more` are the names of options that the adapter itself has a use for. */
  constructor(options: GuardOptions<Request>, reader: RequestReader<Request>, more: readonly string[] = []) {
    const { status, expose, jitterMs, cost, settle, skip, dialect } = checkGuardOptions(options, more)
    this.#gate = gateOf(options, requestFacts(reader, options))
    this.#dialects = checkDialects(dialect)
    this.#describe = {
      ...(status !== undefined && { status }),
      ...(expose !== undefined && { expose }),
      ...(jitterMs !== undefined && { jitterMs }),
    }
    this.#cost = cost
    this.#settle = settle
    this.#skip = skip
    this.#holds = settle !== undefined || this.#gate.queues
    this.#isPlain = this.#dialects.length === 1 && this.#dialects[0] === 'draft' && expose !== true
    const { atOnce: limited, queues, leases } = this.#gate
    const isUsual = this.#isPlain && limited !== undefined && !queues && !leases
    if (isUsual && settle === undefined && skip === undefined && typeof cost !== 'function')
      this.#plain = new PlainLimit(limited, cost)
  }

  /** The field `RateLimit-Policy` of requests of which `pass` gives the other one. */
  get policyField(): string {
    return this.#plain?.policyField ?? ''
  }

  /**
   * `enter` for adapters that know the usual case: a request that goes at once, and nothing is to be done but tell its quota.
   * Then it gives the text of the field `RateLimit` and makes nothing else.
   */
  pass(request: Request): string | Awaitable<Passage> | undefined {
    const plain = this.#plain
    if (plain === undefined) return this.enter(request)
    const decision = plain.decide(request)
    const goes = decision.allowed && decision.delayMs === 0
    return goes ? plain.quotaField(decision) : this.#described(plain.verdictOf(decision))
  }

  /**
   * Decides on a request. Nothing for one that is not limited. Where another guard comes after this one, it `holds` what it
   * takes, so that it can give it back.
   */
  enter(request: Request, holds = this.#holds || this.#gate.leases): Awaitable<Passage> | undefined {
    if (this.#settle !== undefined) expectCost(request)
    if (this.#skip !== undefined && this.#skips(this.#skip(request))) return undefined
    const cost = typeof this.#cost === 'function' ? atOnce('cost', this.#cost(request)) : (this.#cost ?? 1)
    if (holds) return mapped(this.#gate.reserve(request, cost), (held) => this.#held(request, cost, held))
    return mapped(this.#gate.check(request, cost), (verdict) => this.#described(verdict))
  }

  #skips(answer: unknown): boolean {
    // Whatever is not false would let everybody through.
    if (typeof atOnce('skip', answer) !== 'boolean')
      throw invalidType('skip', 'a function that returns true or false at once', answer)
    return answer as boolean
  }

  #described(verdict: Verdict): Passage {
    const { allowed, delayMs } = verdict
    const { status, headers, body } = describeIn(verdict, this.#dialects, this.#describe)
    const isPlain = this.#isPlain && allowed && headers.RateLimit !== undefined
    // One by one: what is added to a copy made by `...` takes V8 a microsecond each.
    return {
      status,
      headers,
      body,
      allowed,
      delayMs,
      verdict,
      isPlain,
      settle: undefined,
      holds: false,
      cancel: doNothing,
    }
  }

  #held(request: Request, taken: number, held: Held): Passage {
    const settle = held.verdict.allowed ? this.#whenOver(request, taken, held) : undefined
    return { ...this.#described(held.verdict), settle, holds: true, cancel: () => carefully(() => held.cancel()) }
  }

  /** What is to be done when a response is over, if anything. */
  #whenOver(request: Request, taken: number, held: Held): Passage['settle'] {
    const units = this.#settle
    const inFlight = held.verdict.levels.some(({ limit }) => isConcurrency(limit))
    if (units === undefined && !inFlight) return undefined
    return (ending) => {
      if (inFlight) carefully(() => held.release())
      if (units === undefined) return
      carefully(() => held.settle(atOnce('settle', units({ ...ending, taken, cost: costOf(request) }))))
    }
  }
}

function doNothing(): void {}

/** By now there is nobody to throw an error to: the response is over. */
async function carefully(run: () => Awaitable<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    warn(`a request could not be settled, and what it took stays taken: ${reasonOf(error)}`, 'SLUICE_SETTLE')
  }
}
