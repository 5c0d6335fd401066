/** The protocol of lua/main.lua, whose header says what the numbers mean: `Batch` writes it and `Reply` reads it. */
import {
  type Arithmetic,
  arithmeticOf,
  type BlockRule,
  blockedDecision,
  type Decision,
  LeasedBucket,
  type LeaseLot,
  type LeaseTerms,
  type Limit,
  type Report,
  type Taken,
  type TokenBucket,
} from '../../limits/index.js'
import type { Correction } from '../store.js'
import { ALGORITHM_ORDER } from './script.js'

/** Kinds of a report. */
const USUAL = 0
const BLOCKED = 1
const FOREIGN = 3

/** Each limit as the script reads it: remembered, because it is the same in every request. */
const numbersOfLimits = new WeakMap<Limit, readonly string[]>()

function numbersOf(limit: Limit): readonly string[] {
  let numbers = numbersOfLimits.get(limit)
  if (numbers === undefined) {
    const { parameters } = arithmeticOf(limit).remote
    numbers = [ALGORITHM_ORDER.indexOf(limit.algorithm) + 1, ...parameters].map(String)
    numbersOfLimits.set(limit, numbers)
  }
  return numbers
}

function numbersOfRule({ firstUs, factor, mostUs, forgetUs }: BlockRule): readonly number[] {
  return [firstUs, factor, mostUs, forgetUs]
}

/** A demand of a request with several. The costs of all its demands for the same state are added up. */
export interface GroupDemand {
  readonly key: string
  readonly limit: Limit
  /** The sum of the costs of all demands for this state. */
  readonly cost: number
  /** The first demand for a state takes the sum; the others take nothing. */
  readonly takes: boolean
  /** A state is a shadow if all demands for it are. */
  readonly shadow: boolean
  /** Blocks the key if the demand exceeds. */
  readonly blockFor: BlockRule | undefined
}

/** Where a reservation is kept: its Redis keys, and its member in the sorted set `ends`. */
export interface ReservationPlace {
  readonly record: string
  readonly ends: string
  readonly member: string
}

/** A correction, and the Redis key of the state that it changes. */
export interface KeyedCorrection extends Correction {
  readonly key: string
}

/** The keys and the arguments of one call of the script. */
export class Batch {
  readonly keys: string[] = []
  readonly #limits: Limit[] = []
  readonly #rules: BlockRule[] = []
  #limitTexts = ''
  #steps = ''
  #runLimit: Limit | undefined
  #runCost = 0
  #runCount = 0

  /** A request with one demand. Consecutive requests for equal limits and costs are one step. */
  decide(key: string, limit: Limit, cost: number): void {
    this.keys.push(key)
    if (limit === this.#runLimit && cost === this.#runCost) {
      this.#runCount++
      return
    }
    this.#endRun()
    this.#runLimit = limit
    this.#runCost = cost
    this.#runCount = 1
  }

  /** A request with several demands. */
  decideGroup(demands: readonly GroupDemand[]): void {
    this.#step(`2,${demands.length}`)
    this.#addDemands(demands)
  }

  /** The same, but nothing is taken. */
  peek(demands: readonly GroupDemand[]): void {
    this.#step(`13,${demands.length}`)
    this.#addDemands(demands)
  }

  /** A request that is decided, and kept for `ttlMs` if it is allowed, unless the reservation is open already. */
  openReservation(place: ReservationPlace, ttlMs: number, payload: string, demands: readonly GroupDemand[]): void {
    this.keys.push(place.record, place.ends)
    this.#step(`9,${JSON.stringify(place.member)},${ttlMs},${JSON.stringify(payload)},${demands.length}`)
    this.#addDemands(demands)
  }

  /** Ends a reservation and corrects what it took. If this call does not end it, nothing is corrected. */
  closeReservation(
    place: ReservationPlace,
    openedUs: number,
    hasEnded: boolean,
    corrections: readonly KeyedCorrection[],
  ): void {
    const numbers = corrections.reduce((sum, { taken }) => sum + (taken === undefined ? 3 : 7), 0)
    this.keys.push(place.record, place.ends)
    const member = JSON.stringify(place.member)
    this.#step(`10,${member},${openedUs},${hasEnded ? 1 : 0},${numbers},${corrections.length}`)
    for (const { key, demand, taken } of corrections) {
      if (taken === undefined) this.charge(key, demand.limit, demand.cost)
      else this.refund(key, demand.limit, demand.cost, taken, false)
    }
  }

  findReservation({ record }: ReservationPlace): void {
    this.keys.push(record)
    this.#step('11')
  }

  dueReservations(ends: string, from: number, most: number): void {
    this.keys.push(ends)
    this.#step(`12,${from},${most}`)
  }

  /** Returns and grants units on lease. `sequence` is the number of the request, which the guard remembers. */
  lease(key: string, guard: string, limit: Limit, terms: LeaseTerms, sequence: number): void {
    const { want, leaseUs, returns } = terms
    this.keys.push(key, guard)
    this.#step(`15,${this.#placeOf(limit)},${want},${leaseUs},${sequence},${returns.length}`)
    for (const { roundUs, spent, unspent } of returns) this.#step(`${roundUs},${spent},${unspent}`)
  }

  charge(key: string, limit: Limit, cost: number): void {
    this.keys.push(key)
    this.#step(`3,${this.#placeOf(limit)},${cost}`)
  }

  refund(key: string, limit: Limit, units: number, taken: Taken | undefined, isUndo: boolean): void {
    this.keys.push(key)
    const known = taken === undefined ? '0,0,0,0' : `${isUndo ? 2 : 1},${taken.atUs},${taken.cost},${taken.delayMs}`
    this.#step(`4,${this.#placeOf(limit)},${units},${known}`)
  }

  /** Replaces a state by a fresh one, from which `units` are taken. */
  set(key: string, limit: Limit, units: number): void {
    this.keys.push(key)
    this.#step(`14,${this.#placeOf(limit)},${units}`)
  }

  /** Blocks states for `blockUs`, or forgets them if it is absent. */
  resetOrBlock(keys: readonly string[], blockUs: number | undefined): void {
    this.keys.push(...keys)
    this.#step(blockUs === undefined ? `5,${keys.length}` : `6,${keys.length},${blockUs}`)
  }

  overrideChanges(keys: readonly string[], since: number, most: number, base: number): void {
    this.keys.push(...keys)
    this.#step(`7,${since},${most},${base}`)
  }

  setOverride(keys: readonly string[], name: string, value: string, untilMs: number): void {
    this.keys.push(...keys)
    this.#step(`8,${JSON.stringify(name)},${JSON.stringify(value)},${untilMs}`)
  }

  /** The arguments of the script. */
  arguments(): string[] {
    if (this.#runLimit !== undefined && this.#steps === '') return [String(this.#runCost), ...numbersOf(this.#runLimit)]
    this.#endRun()
    const rules = this.#rules.length === 0 ? '' : `,${JSON.stringify(this.#rules.map(numbersOfRule))}`
    return [`[[${this.#limitTexts}],[${this.#steps}]${rules}]`]
  }

  #addDemands(demands: readonly GroupDemand[]): void {
    for (const { key, limit, cost, takes, shadow, blockFor } of demands) {
      this.keys.push(key)
      const role = (takes ? 1 : 0) + (shadow ? 2 : 0) + 4 * this.#placeOfRule(blockFor)
      this.#step(`${this.#placeOf(limit)},${cost},${role}`)
    }
  }

  #endRun(): void {
    if (this.#runLimit === undefined) return
    const run = `1,${this.#placeOf(this.#runLimit)},${this.#runCost},${this.#runCount}`
    this.#runLimit = undefined
    this.#step(run)
  }

  #step(text: string): void {
    this.#endRun()
    this.#steps = this.#steps === '' ? text : `${this.#steps},${text}`
  }

  /** 0 if there is no rule. */
  #placeOfRule(rule: BlockRule | undefined): number {
    if (rule === undefined) return 0
    const place = this.#rules.indexOf(rule)
    return place < 0 ? this.#rules.push(rule) : place + 1
  }

  #placeOf(limit: Limit): number {
    let place = this.#limits.indexOf(limit)
    if (place < 0) {
      place = this.#limits.push(limit) - 1
      const text = `[${numbersOf(limit)}]`
      this.#limitTexts = place === 0 ? text : `${this.#limitTexts},${text}`
    }
    return place + 1
  }
}

/** The script's report of one demand. */
export interface DemandReport extends Report {
  readonly fits: boolean
  /** How long the key is still blocked, in microseconds; 0 if it is not. */
  readonly blockedUs: number
  /** Units of a token bucket that are on lease: the newer and the older ones. */
  readonly leases: readonly [LeaseLot, LeaseLot] | undefined
}

/** Reads a reply of the script from one demand to the next. */
export class Reply {
  readonly nowUs: number
  readonly #numbers: ArrayLike<number>
  readonly #raw: readonly unknown[]
  #at = 1

  constructor(reply: unknown) {
    if (!Array.isArray(reply) || reply.length === 0) throw new Error('Redis did not reply to the script with a list')
    this.#raw = reply
    // Some clients can be configured to give numbers as text.
    this.#numbers = typeof reply[0] === 'number' ? reply : reply.map(Number)
    this.nowUs = this.#numbers[0]
    if (!Number.isSafeInteger(this.nowUs)) throw new Error('Redis replied to the script without its time')
  }

  /** The report of the next demand; `undefined` if its key holds a value that no limit wrote. */
  next(arithmetic: Arithmetic): DemandReport | undefined {
    const head = this.number()
    const headTokens = Math.floor(head / 8)
    const flags = head - headTokens * 8
    const kind = flags >> 1
    if (kind === FOREIGN) return undefined
    const blockedUs = kind === BLOCKED ? this.number() - this.nowUs : 0
    const aheadUs = kind === USUAL ? 0 : this.number()
    const tokens = kind === USUAL ? headTokens : this.number()
    const leases = kind === USUAL || headTokens === 0 ? undefined : ([this.#lot(), this.#lot()] as const)
    const at = this.#at
    this.#at += arithmetic.remote.reportLength
    const { nowUs } = this
    return { nowUs, tokens, aheadUs, numbers: this.#numbers, at, fits: (flags & 1) === 1, blockedUs, leases }
  }

  /** The next number of a step that reports no state. */
  number(): number {
    const number = this.#numbers[this.#at++]
    if (number === undefined) throw new Error('Redis replied to the script with too little')
    return number
  }

  #lot(): LeaseLot {
    return { held: this.number(), untilUs: this.number() }
  }

  text(): string {
    this.number()
    return String(this.#raw[this.#at - 1])
  }

  /** The answer to a step that reports no state: was it done? */
  isDone(): boolean {
    return this.number() >> 1 !== FOREIGN
  }
}

/** Was the demand met, unless another one denied the request? */
export function isMet({ fits, blockedUs }: DemandReport): boolean {
  return fits && blockedUs <= 0
}

/** The answer to a demand for `cost` that took nothing. If it is met, it is described as for a cost of 0. */
export function peekedDecision(arithmetic: Arithmetic, report: DemandReport, cost: number): Decision {
  return decisionOf(arithmetic, report, isMet(report) ? 0 : cost)
}

/** The answer to a demand for `cost`, which was taken or refused. */
export function decisionOf(arithmetic: Arithmetic, report: DemandReport, cost: number): Decision {
  const decision =
    report.leases === undefined
      ? arithmetic.remote.decision(report, cost, report.fits)
      : leasedDecision(arithmetic.limit, report, report.leases, cost)
  return report.blockedUs > 0 ? blockedDecision(decision, report.blockedUs) : decision
}

/** Only the state of a token bucket says what is on lease. */
function leasedDecision(
  limit: Limit,
  report: DemandReport,
  leases: readonly [LeaseLot, LeaseLot],
  cost: number,
): Decision {
  const { tokens, nowUs, aheadUs, fits } = report
  const [newer, older] = leases
  const state = { tokens, sinceUs: nowUs + aheadUs, newer, older }
  return new LeasedBucket(limit as TokenBucket).decision(state, nowUs, cost, fits)
}
