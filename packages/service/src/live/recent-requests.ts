import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Clock, type DecisionEvent, systemClock } from 'sluice'

const MOST_KEPT = 100
/** So many requests are sampled at once, and so many a second after that. */
const A_SECOND = 20
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

/**
 * Samples the requests that policies decide, and keeps the last 100. It costs a decision nothing until sampling is turned on.
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
  #kept: RecentRequest[] = []
  #isSampling = false
  #last = 0
  #tokens = A_SECOND
  #tokensMs: number

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
    this.#tokensMs = clock.now()
  }

  /** The requests that are kept, the oldest first. */
  get all(): readonly RecentRequest[] {
    return this.#kept
  }

  /** Turns sampling on or off. */
  sampling(isOn: boolean): void {
    if (isOn === this.#isSampling) return
    this.#isSampling = isOn
    if (isOn) subscribe('sluice:decision', this.#hear)
    else unsubscribe('sluice:decision', this.#hear)
  }

  /** The requests that were sampled since the last call. */
  take(): readonly RecentRequest[] {
    const sampled = this.#sampled
    this.#sampled = []
    return sampled
  }

  /** Keeps requests, which this process or another worker has sampled. */
  add(requests: readonly RecentRequest[]): void {
    this.#kept = [...this.#kept, ...requests].slice(-MOST_KEPT)
  }

  /** What was asked by a request that is kept. */
  find(id: string): Pick<RecentRequest, 'attributes' | 'cost'> | undefined {
    return this.#kept.find((each) => each.id === id)
  }

  #sample({ request, allowed, demands, decisions, degraded, cost }: DecisionEvent): void {
    if (request === undefined || this.#sampled.length >= MOST_KEPT || !this.#hasToken()) return
    const attributes = this.#attributesOf(request as Readonly<Record<string, unknown>>)
    if (attributes === undefined) return
    this.#tokens--
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

  #hasToken(): boolean {
    if (this.#tokens >= 1) return true
    const nowMs = this.#clock.now()
    const passedMs = Math.max(0, nowMs - this.#tokensMs)
    this.#tokens = Math.min(A_SECOND, this.#tokens + (passedMs * A_SECOND) / 1_000)
    this.#tokensMs = nowMs
    return this.#tokens >= 1
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

/** A query may hold secrets, and the policy does not read it. */
function pathsOnly(value: AttributeValue): AttributeValue {
  if (typeof value === 'string') return value.replace(/[?#].*$/s, '')
  return typeof value === 'object' ? value.map((each) => each.replace(/[?#].*$/s, '')) : value
}
