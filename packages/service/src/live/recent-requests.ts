import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Clock, type DecisionEvent, systemClock } from 'sluice'

/** So many allowed requests, and so many denied ones, are shown to a client that begins to watch. */
const MOST_SHOWN = 100
/** So many of each can be asked about: at the highest rate, those of the last 50 seconds. */
const MOST_KEPT = 500
/** So many of those that were asked about can be asked about again. */
const MOST_ASKED = 100
/** So many requests are sampled at once, and so many a second after that. Denied requests have a budget of their own. */
const A_SECOND = 10
/** A sample waits at most for so many requests: while the budget is used up, to read the clock for each would cost more. */
const SKIPPED = 63
/** So many are sampled between two calls of `take`, so that the memory is bounded if none comes. */
const MOST_SAMPLED = 100
/** A request with more text than this is not sampled, so that requests cannot fill the memory. */
const MOST_CHARACTERS = 2_000

/** The value of an attribute as the caller gave it. A path may be a list. */
type AttributeValue = string | number | boolean | readonly string[]

/** A request that was decided a moment ago, with the attributes that the policy asks about. Plain data. */
export interface RecentRequest {
  readonly id: string
  readonly atMs: number
  readonly allowed: boolean
  /** The levels that denied it. */
  readonly deniedBy: readonly string[]
  readonly degraded: boolean
  readonly cost: number
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

/** A list for the allowed requests, and one for the denied ones: many of one outcome do not drive out the other. */
type ByOutcome<Value> = Readonly<Record<'allowed' | 'denied', Value>>

/**
 * Samples the requests that policies decide, and keeps the last of them in memory. It samples nothing until it is turned on.
 * `take` gives what this process sampled, and `add` keeps it: so workers can keep each other's requests.
 */
export class RecentRequests {
  /** The attributes that are kept: those that the policy asks about. */
  attributes: readonly string[] = []
  readonly #clock: Clock
  readonly #hear = (event: unknown) => this.#sample(event as DecisionEvent)
  /** Tells this process's requests from those of other workers. */
  readonly #prefix = randomBytes(4).toString('hex')
  #sampled: RecentRequest[] = []
  readonly #kept: ByOutcome<RecentRequest[]> = { allowed: [], denied: [] }
  readonly #asked = new Map<string, RecentRequest>()
  readonly #budgets: ByOutcome<SampleBudget>
  #isSampling = false
  #last = 0

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
    this.#budgets = { allowed: new SampleBudget(clock), denied: new SampleBudget(clock) }
  }

  /** The last requests, the oldest first. */
  get all(): readonly RecentRequest[] {
    const { allowed, denied } = this.#kept
    return [...allowed.slice(-MOST_SHOWN), ...denied.slice(-MOST_SHOWN)].sort((a, b) => a.atMs - b.atMs)
  }

  /** Turns sampling on or off. */
  sampling(isOn: boolean): void {
    if (isOn === this.#isSampling) return
    this.#isSampling = isOn
    if (isOn) subscribe('sluice:decision', this.#hear)
    else unsubscribe('sluice:decision', this.#hear)
  }

  /** The requests that were sampled since the last call. Called about once a second. */
  take(): readonly RecentRequest[] {
    const sampled = this.#sampled
    this.#sampled = []
    this.#budgets.allowed.look()
    this.#budgets.denied.look()
    return sampled
  }

  /** Keeps requests, which this process or another worker has sampled. */
  add(requests: readonly RecentRequest[]): void {
    for (const request of requests) {
      const kept = this.#kept[outcomeOf(request)]
      if (kept.push(request) > MOST_KEPT) kept.shift()
    }
  }

  /** A request that is kept. */
  find(id: string): RecentRequest | undefined {
    const { allowed, denied } = this.#kept
    const isIt = (each: RecentRequest) => each.id === id
    const found = this.#asked.get(id) ?? denied.find(isIt) ?? allowed.find(isIt)
    if (found === undefined) return undefined
    // The request that was asked about last becomes the last of the map.
    this.#asked.delete(id)
    this.#asked.set(id, found)
    if (this.#asked.size > MOST_ASKED) this.#asked.delete(this.#asked.keys().next().value as string)
    return found
  }

  #sample(event: DecisionEvent): void {
    const { request } = event
    if (request === undefined) return
    const budget = event.allowed ? this.#budgets.allowed : this.#budgets.denied
    if (!budget.hasToken() || this.#sampled.length >= MOST_SAMPLED) return
    const { allowed, demands, decisions, degraded, cost } = event
    const attributes = this.#attributesOf(request as Readonly<Record<string, unknown>>)
    if (attributes === undefined) return
    budget.take()
    const denying = demands.filter(({ shadow }, i) => shadow !== true && decisions[i]?.allowed === false)
    this.#sampled.push({
      id: `${this.#prefix}-${++this.#last}`,
      atMs: Math.round(this.#clock.now()),
      allowed,
      deniedBy: [...new Set(denying.map(({ level = '' }) => level))],
      degraded: degraded !== undefined,
      cost,
      attributes,
    })
  }

  /** `undefined` if the request is too large. */
  #attributesOf(request: Readonly<Record<string, unknown>>): RecentRequest['attributes'] | undefined {
    const attributes: Record<string, AttributeValue> = Object.create(null)
    let characters = 0
    for (const name of this.attributes) {
      if (!Object.hasOwn(request, name)) continue
      const value = request[name] as AttributeValue | null | undefined
      if (value === undefined || value === null || value === '') continue
      characters += String(value).length
      if (characters > MOST_CHARACTERS) return undefined
      attributes[name] = name === 'path' ? pathsOnly(value) : value
    }
    return attributes
  }
}

function outcomeOf({ allowed }: { readonly allowed: boolean }): 'allowed' | 'denied' {
  return allowed ? 'allowed' : 'denied'
}

/** How many requests may still be sampled. A limiter of the library would tell of its decisions, and so be sampled itself. */
class SampleBudget {
  readonly #clock: Clock
  #tokens = A_SECOND
  #sinceMs: number
  /** So many requests are not sampled before the clock is read again. */
  #skipped = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#sinceMs = clock.now()
  }

  hasToken(): boolean {
    if (this.#skipped > 0) {
      this.#skipped--
      return false
    }
    const nowMs = this.#clock.now()
    const passedMs = Math.max(0, nowMs - this.#sinceMs)
    this.#tokens = Math.min(A_SECOND, this.#tokens + (passedMs * A_SECOND) / 1_000)
    this.#sinceMs = nowMs
    if (this.#tokens >= 1) return true
    this.#skipped = SKIPPED
    return false
  }

  /** Reads the clock for the next request: after a flood, the few that come must not be skipped. */
  look(): void {
    this.#skipped = 0
  }

  take(): void {
    this.#tokens--
  }
}

/** A query may hold secrets, and the policy does not read it. */
function pathsOnly(value: AttributeValue): AttributeValue {
  if (typeof value === 'string') return value.replace(/[?#].*$/s, '')
  return typeof value === 'object' ? value.map((each) => each.replace(/[?#].*$/s, '')) : value
}
