import { invalidType } from '../errors.js'
import type { Verdict } from '../policy/index.js'
import type { Awaitable } from '../stores/index.js'
import { type DescribeOptions, type Description, describeIn } from './describe.js'
import { checkDialects, type Dialect } from './dialects.js'
import { type Gate, gateOf, type Held, mapped } from './gate.js'
import { checkGuardOptions, type GuardOptions, type Outcome } from './guard-options.js'
import { costOf } from './request-cost.js'
import { type RequestReader, requestFacts } from './request-facts.js'

/** One request's way through a guard. */
export interface Passage extends Description {
  readonly verdict: Verdict
  /** Present where the response is to be told of, when it is over. */
  readonly settle: ((outcome: Omit<Outcome, 'cost'>) => void) | undefined
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
  }

  /**
   * Decides on a request. Nothing for one that is not limited. Where another guard comes after this one, it `holds` what it
   * takes, so that it can give it back.
   */
  enter(request: Request, holds = this.#holds): Awaitable<Passage> | undefined {
    if (this.#skip !== undefined && this.#skips(this.#skip(request))) return undefined
    const cost = typeof this.#cost === 'function' ? this.#cost(request) : (this.#cost ?? 1)
    if (!holds) return mapped(this.#gate.check(request, cost), (verdict) => this.#passage(request, verdict))
    return mapped(this.#gate.reserve(request, cost), (held) => this.#passage(request, held.verdict, held))
  }

  #skips(answer: unknown): boolean {
    // The promise that an async function returns is true, whatever it will be: everybody would be let through.
    if (typeof answer !== 'boolean') throw invalidType('skip', 'a function that returns true or false at once', answer)
    return answer
  }

  #passage(request: Request, verdict: Verdict, held?: Held): Passage {
    const settle = this.#settle
    return {
      ...describeIn(verdict, this.#dialects, this.#describe),
      verdict,
      settle:
        held === undefined || settle === undefined || !verdict.allowed
          ? undefined
          : (outcome) => carefully(() => held.settle(settle({ ...outcome, cost: costOf(request) }))),
      cancel: () => carefully(() => held?.cancel()),
    }
  }
}

/** By now there is nobody to throw an error to: the response is over. */
async function carefully(run: () => Awaitable<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    process.emitWarning(
      `a request could not be settled, and what it took stays taken: ${why}`,
      'SluiceWarning',
      'SLUICE_SETTLE',
    )
  }
}
