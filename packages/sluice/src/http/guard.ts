import { invalidType } from '../errors.js'
import { isConcurrency } from '../limits/index.js'
import type { LevelDecision, Verdict } from '../policy/index.js'
import { reasonOf, warn } from '../policy/warn.js'
import type { Awaitable } from '../stores/index.js'
import { type DescribeOptions, type Description, describeIn } from './describe.js'
import { checkDialects, type Dialect, draftFields } from './dialects.js'
import { type Gate, gateOf, type Held, mapped } from './gate.js'
import { atOnce, checkGuardOptions, type Ending, type GuardOptions } from './guard-options.js'
import { costOf, expectCost } from './request-cost.js'
import { type RequestReader, requestFacts } from './request-facts.js'
import { verdictOfOne } from './verdict-of-one.js'

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

/** The usual case, with as little made for it as can be: one limit lets a request go at once, and nothing comes after. */
class PlainPassage implements Passage {
  readonly allowed = true
  readonly delayMs = 0
  readonly isPlain = true
  readonly status = 200
  readonly body = undefined
  readonly settle = undefined
  readonly holds = false
  readonly cancel = doNothing
  readonly headers: Passage['headers']
  readonly #level: LevelDecision

  constructor(level: LevelDecision) {
    this.headers = draftFields(level)
    this.#level = level
  }

  get verdict(): Verdict {
    return verdictOfOne(this.#level)
  }
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
    const found = this.#gate.check(request, cost)
    return found instanceof Promise ? found.then((given) => this.#passage(given)) : this.#passage(found)
  }

  #skips(answer: unknown): boolean {
    // Whatever is not false would let everybody through.
    if (typeof atOnce('skip', answer) !== 'boolean')
      throw invalidType('skip', 'a function that returns true or false at once', answer)
    return answer as boolean
  }

  #passage(found: Verdict | LevelDecision): Passage {
    if ('levels' in found) return this.#described(found)
    const { allowed, delayMs } = found.decision
    return this.#isPlain && allowed && delayMs === 0 ? new PlainPassage(found) : this.#described(verdictOfOne(found))
  }

  #described(verdict: Verdict): Passage {
    const { allowed, delayMs } = verdict
    const description = describeIn(verdict, this.#dialects, this.#describe)
    const isPlain = this.#isPlain && allowed && description.headers.RateLimit !== undefined
    return { ...description, allowed, delayMs, verdict, isPlain, settle: undefined, holds: false, cancel: doNothing }
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
