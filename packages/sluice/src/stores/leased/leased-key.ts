import type { Decision, Limit } from '../../limits/index.js'
import type { LeaseAnswer, LeaseFailure, LeaseRequest } from '../leases.js'
import { Hand, type Promised } from './hand.js'

/** What all keys of a leased store share. */
export interface Lender {
  readonly node: string
  nowMs(): number
  /** The next time at which keys with leases of this length call the store together. */
  nextRoundMs(nowMs: number, leaseMs: number): number
  exchange(request: LeaseRequest): Promise<LeaseAnswer | LeaseFailure>
  readonly counts: LeaseCounts
}

/** Units by what became of them. Counters only grow, except `held`. */
export interface LeaseCounts {
  /** Calls of the store that granted or returned units. */
  exchanges: number
  granted: number
  spent: number
  returned: number
  /** Units of answers that never came, and units whose time was over. */
  expired: number
}

/** A request that waits for the store's answer. */
interface Waiter {
  readonly cost: number
  /** Called with the units that it was promised, with a denial, or with the failure of the store. */
  readonly answer: (outcome: Promised | LeaseFailure | undefined) => void
}

/** Clocks of this process and of the store may differ in speed by one in a hundred. */
const SURE = 0.99
/** A key asks for so much more than it expects to spend. */
const MARGIN = 1.25
/** Below this share of the expected units, the key asks for more before its time. */
const LOW = 0.25

/**
 * One key that is asked for so often that it is worth a lease. It decides on the units in hand. It calls the store when
 * requests find too few units, before it runs dry, and once in a lease time to report, to refill and to give back.
 *
 * At most one call for a key is under way. Requests that lack units wait for it, and are answered in their order.
 */
export class LeasedKey {
  readonly name: string
  readonly limit: Limit
  readonly key: string
  readonly leaseUs: number
  readonly leaseMs: number
  readonly hand = new Hand()
  readonly #lender: Lender
  #waiters: Waiter[] = []
  #sequence = 0
  #isAsking = false
  /** Units that were asked for since the last round, and how many the key expects in a round. */
  #asked = 0
  #expected: number
  /** Until then the store has no more units than it granted last. */
  #dryUntilMs = -Infinity
  /** The store's last answer, and when it came. */
  #known: LeaseAnswer | undefined
  #knownMs = 0
  /** When this round ends. */
  roundEndsMs: number

  constructor(lender: Lender, name: string, limit: Limit, key: string, leaseUs: number, expected: number) {
    this.#lender = lender
    this.name = name
    this.limit = limit
    this.key = key
    this.leaseUs = leaseUs
    this.leaseMs = leaseUs / 1_000
    this.#expected = expected
    this.roundEndsMs = lender.nextRoundMs(lender.nowMs(), this.leaseMs)
  }

  /** The decision for a request, without asking the store; `undefined` if the store must be asked. */
  decideNow(cost: number): Decision | undefined {
    const nowMs = this.#lender.nowMs()
    this.#asked += cost
    if (this.hand.take(nowMs, cost)) {
      this.#lender.counts.spent += cost
      this.#refillIfLow(nowMs)
      return this.#admitted(nowMs)
    }
    return this.denialNow(cost, nowMs)
  }

  /** The denial of a request that the store would deny, as far as this process knows; otherwise `undefined`. */
  denialNow(cost: number, nowMs: number): Decision | undefined {
    if (nowMs >= this.#dryUntilMs || this.#known === undefined) return undefined
    return this.#denied(this.#known, cost, nowMs)
  }

  /** Sets units aside for a request that also asks elsewhere. */
  promiseNow(cost: number): Promised | undefined {
    const nowMs = this.#lender.nowMs()
    this.#asked += cost
    const promised = this.hand.promise(nowMs, cost)
    if (promised !== undefined) this.#refillIfLow(nowMs)
    return promised
  }

  spend(promised: Promised): void {
    this.hand.spend(promised)
    for (const { units } of promised) this.#lender.counts.spent += units
  }

  /** Asks the store for units for a request. Calls back later: with the units, or with `undefined` if there are too few. */
  ask(cost: number, answer: Waiter['answer']): void {
    this.#waiters.push({ cost, answer })
    if (this.#isAsking) return
    this.#isAsking = true
    // Requests of the same task are asked for together.
    queueMicrotask(() => this.#exchange(false))
  }

  /** Describes the state, as far as this process knows it. */
  decisionFor(cost: number): Decision | undefined {
    if (this.#known === undefined) return undefined
    const nowMs = this.#lender.nowMs()
    return this.hand.units(nowMs) >= cost ? this.#admitted(nowMs) : this.#denied(this.#known, cost, nowMs)
  }

  /** When the decision's numbers were true of the store, in epoch milliseconds of this process. */
  get knownMs(): number {
    return this.#knownMs
  }

  /** The round is over. Reports and refills; returns false if the key is no longer worth a lease, and holds nothing. */
  endRound(): boolean {
    const nowMs = this.#lender.nowMs()
    this.roundEndsMs = this.#lender.nextRoundMs(nowMs, this.leaseMs)
    this.#expected = Math.max(this.#asked, (this.#expected + this.#asked) / 2)
    const isIdle = this.#asked === 0
    this.#asked = 0
    if (isIdle) this.#expected = 0
    if (this.#isAsking) return true
    if (isIdle && this.hand.isEmpty) return false
    this.#exchange(true)
    return true
  }

  /** Gives everything back, for a key that was blocked or reset. */
  drop(): void {
    this.#expected = 0
    this.#dryUntilMs = -Infinity
    if (!this.#isAsking && !this.hand.isEmpty) this.#exchange(true)
  }

  #refillIfLow(nowMs: number): void {
    if (this.#isAsking || nowMs < this.#dryUntilMs) return
    if (this.hand.units(nowMs) < LOW * Math.max(this.#asked, this.#expected)) this.#exchange(false)
  }

  #exchange(isRound: boolean): void {
    const lender = this.#lender
    const nowMs = lender.nowMs()
    const target = Math.ceil(MARGIN * Math.max(this.#expected, this.#asked))
    const keep = isRound ? (this.#expected === 0 ? 0 : 2 * target) : Infinity
    const returns = this.hand.returns(nowMs, keep)
    const need = this.#waiters.reduce((sum, { cost }) => sum + cost, 0)
    const want = need + Math.max(0, target - this.hand.units(nowMs))
    if (need === 0 && want === 0 && returns.length === 0) {
      this.#isAsking = false
      return
    }
    this.#isAsking = true
    lender.counts.exchanges++
    for (const { unspent } of returns) lender.counts.returned += unspent
    const { name, limit, key, leaseUs } = this
    const request = { name, limit, key, leaseUs, want, returns, node: lender.node, sequence: ++this.#sequence }
    void lender.exchange(request).then((answer) => this.#answered(answer, want, nowMs))
  }

  #answered(answer: LeaseAnswer | LeaseFailure, want: number, sentMs: number): void {
    this.#isAsking = false
    const waiters = this.#waiters
    this.#waiters = []
    if ('instead' in answer) {
      for (const waiter of waiters) waiter.answer(answer)
      return
    }
    const nowMs = this.#lender.nowMs()
    this.#known = answer
    this.#knownMs = nowMs
    this.#lender.counts.granted += answer.granted
    if (answer.granted > 0) this.hand.add(answer.granted, answer.roundUs, sentMs + SURE * answer.lastsMs)
    const isDry = answer.granted < want
    if (isDry) this.#dryUntilMs = Math.max(this.roundEndsMs, nowMs + answer.decisionFor(1).retryAfterMs)
    for (const waiter of waiters) {
      const promised = this.hand.promise(nowMs, waiter.cost)
      // Requests that came after the call was sent may find too few units although the store has more.
      if (promised === undefined && !isDry) this.ask(waiter.cost, waiter.answer)
      else waiter.answer(promised)
    }
  }

  #admitted(nowMs: number): Decision {
    const units = this.hand.units(nowMs)
    const known = this.#known?.decisionFor(0)
    // The key has a hand, so the store has answered.
    const { quota, remaining = 0, nextUnitAfterMs = 0, resetAfterMs = 0 } = known as Decision
    return {
      allowed: true,
      quota,
      remaining: Math.min(quota, remaining + units),
      retryAfterMs: 0,
      nextUnitAfterMs,
      resetAfterMs,
      delayMs: 0,
    }
  }

  #denied(known: LeaseAnswer, cost: number, nowMs: number): Decision {
    const decision = known.decisionFor(cost)
    const sinceMs = nowMs - this.#knownMs
    const waitMs = Math.ceil(this.#dryUntilMs - nowMs)
    return {
      ...decision,
      allowed: false,
      remaining: Math.min(decision.quota, this.hand.units(nowMs)),
      retryAfterMs: Math.max(1, waitMs, Math.ceil(decision.retryAfterMs - sinceMs)),
      nextUnitAfterMs: Math.max(1, waitMs, Math.ceil(decision.nextUnitAfterMs - sinceMs)),
      resetAfterMs: Math.max(1, Math.ceil(decision.resetAfterMs - sinceMs)),
    }
  }
}
