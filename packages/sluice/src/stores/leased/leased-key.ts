import type { Decision } from '../../limits/index.js'
import type { LeaseAnswer, LeaseFailure } from '../leases.js'
import { ExpectedUnits } from './expected-units.js'
import { Hand, type Promised } from './hand.js'
import { KnownState } from './known-state.js'
import type { LeasedLimit, Lender, Round } from './lender.js'
import { LOOK_AGAIN_MS, Shortage } from './shortage.js'

/**
 * What became of a request that waited for the store: its units, a failure of the store, or a denial. `'late'`: its units came
 * too late to be spent, and it must ask the store directly.
 */
export type Outcome = Promised | LeaseFailure | 'late' | undefined

/** A request that waits for the store's answer. */
interface Waiter {
  readonly cost: number
  readonly answer: (outcome: Outcome) => void
}

/** Below this share of the expected units, the key asks for more before its time. */
const LOW = 0.25
/** A key that called the store less than this share of a lease time ago does not call again at the end of the round. */
const RECENT = 0.8
/** If a call takes more than so many lease times, its units are of little use: they last at least four, or until their window ends. */
const LATE = 2
/** Then the limit is not leased for so long. */
const REST_MS = 1_000

/**
 * One key that is asked for so often that it is worth a lease. It decides on the units in hand. It calls the store when
 * requests find too few units, before it runs dry, and once in a round to report, to refill and to give back.
 *
 * At most one call for a key is under way. Requests that lack units wait for it, and are answered in their order.
 */
export class LeasedKey {
  readonly limit: LeasedLimit
  readonly key: string
  readonly hand = new Hand()
  readonly #lender: Lender
  readonly #round: Round
  #waiters: Waiter[] = []
  #isAsking = false
  #sentMs = -Infinity
  /** Was the key asked for since the last round? */
  #isUsed = true
  readonly #expected: ExpectedUnits
  readonly #shortage = new Shortage()
  /** Until then the key decides nothing from its hand: it is blocked, or retired. */
  #closedUntilMs = -Infinity
  #isRetired = false
  #blockEndsMs = 0
  /** How many calls in a row the store did not answer. After two, requests that lack units ask it directly until the round ends. */
  #failures = 0
  #isAway = false
  readonly #known: KnownState

  constructor(lender: Lender, round: Round, limit: LeasedLimit, key: string, expected: number) {
    this.#lender = lender
    this.#round = round
    this.limit = limit
    this.key = key
    this.#known = new KnownState(limit.quota)
    this.#expected = new ExpectedUnits(limit, expected, lender.nowMs())
  }

  /**
   * The decision for a request, without asking the store; `undefined` if the store must be asked. If `asksIfDry`, only the
   * store may deny for lack of units.
   */
  decideNow(cost: number, asksIfDry: boolean): Decision | undefined {
    const nowMs = this.#lender.nowMs()
    if (nowMs < this.#closedUntilMs) return this.denialNow(cost, asksIfDry)
    if (cost > 0 && this.hand.take(nowMs, cost)) {
      this.#isUsed = true
      this.#expected.add(cost)
      this.#lender.counts.spent += cost
      this.#refillIfLow(nowMs)
      return this.#known.admitted(this.hand.units(nowMs), nowMs)
    }
    if (cost === 0) return this.#known.looked(this.hand.units(nowMs), nowMs)
    const denial = this.denialNow(cost, asksIfDry)
    if (denial !== undefined) this.expect(cost)
    return denial
  }

  /** The denial of a request that lacks units, or of a key that is blocked; `undefined` if the store must be asked. */
  denialNow(cost: number, asksIfDry: boolean): Decision | undefined {
    const nowMs = this.#lender.nowMs()
    if (this.#isBlocked(nowMs)) return this.denial(cost)
    return this.#isRetired || asksIfDry || !this.#shortage.denies(cost, nowMs) ? undefined : this.denial(cost)
  }

  /** What a request would be told now, as far as this process knows; `undefined` if the store must be asked. Takes nothing. */
  peekNow(cost: number): Decision | undefined {
    const nowMs = this.#lender.nowMs()
    const units = this.hand.units(nowMs)
    if (nowMs < this.#closedUntilMs || units < cost) return this.denialNow(cost, false)
    return this.#known.looked(units, nowMs)
  }

  /** Sets units aside for a request that also asks elsewhere. */
  promiseNow(cost: number): Promised | undefined {
    const nowMs = this.#lender.nowMs()
    const promised = nowMs < this.#closedUntilMs ? undefined : this.hand.promise(nowMs, cost)
    // If there are too few, the request asks the store, and a refill would take the units that it needs there: `refill` is later.
    if (promised === undefined) return undefined
    this.expect(cost)
    this.#refillIfLow(nowMs)
    return promised
  }

  /** Can these units no longer be spent, because their time is over? */
  isOver(promised: Promised): boolean {
    return this.hand.isOver(promised, this.#lender.nowMs())
  }

  /** Spends promised units, and returns the decision. */
  spend(promised: Promised): Decision {
    this.hand.spend(promised)
    for (const { units } of promised) this.#lender.counts.spent += units
    const nowMs = this.#lender.nowMs()
    return this.#known.admitted(this.hand.units(nowMs), nowMs)
  }

  /** Takes promised units back into the hand, and describes the key as for a cost of 0. */
  release(promised: Promised): Decision {
    const nowMs = this.#lender.nowMs()
    this.hand.release(promised, nowMs)
    const decision = this.#known.admitted(this.hand.units(nowMs), nowMs)
    if (nowMs < this.#closedUntilMs) this.giveBack()
    return decision
  }

  /**
   * May a request of this cost wait for the key's next call? Others ask the store directly: a request that is larger than
   * what the key expects would take units on lease that it then cannot use.
   */
  canAsk(cost: number): boolean {
    const nowMs = this.#lender.nowMs()
    return !this.#isAway && nowMs >= this.#closedUntilMs && !this.#isResting(nowMs) && this.#expected.serves(cost)
  }

  /** Asks for units if few are in hand. */
  refill(): void {
    this.#refillIfLow(this.#lender.nowMs())
  }

  /** Counts a request that the store decides. */
  expect(cost: number): void {
    this.#isUsed = true
    this.#expected.add(cost)
  }

  /** Asks the store for units for a request, together with other requests of the same task. Calls back later. */
  ask(cost: number, answer: Waiter['answer']): void {
    this.expect(cost)
    this.#wait({ cost, answer })
  }

  /** The denial of a request, after the store had no units for it. */
  denial(cost: number): Decision {
    const nowMs = this.#lender.nowMs()
    this.#isUsed = true
    if (this.#isBlocked(nowMs)) return this.#known.blocked(cost, this.#blockEndsMs, nowMs)
    return this.#known.denied(cost, this.hand.units(nowMs), this.#shortage.againMs(cost), nowMs)
  }

  /** The store's own decision or look for this key, which does not know the units in hand. `lacked` is the cost of a look. */
  withHand(decision: Decision, lacked = Infinity): Decision {
    const units = this.hand.units(this.#lender.nowMs())
    const remaining = Math.min(decision.quota, decision.remaining + units)
    if (units === 0 || decision.degraded !== undefined) return decision
    if (decision.allowed) return { ...decision, remaining }
    // A request of this cost would have the units in hand given back first.
    return remaining >= lacked ? { ...decision, allowed: true, remaining, retryAfterMs: 0 } : decision
  }

  /**
   * Takes note of the store's own denial of a request. Returns true if the units in hand were what it lacked: they are given
   * back then, and the store may be asked again.
   */
  giveBackIfDenied(cost: number, { allowed, degraded, remaining, retryAfterMs }: Decision): boolean {
    const nowMs = this.#lender.nowMs()
    if (allowed || degraded !== undefined || nowMs < this.#closedUntilMs) return false
    const units = this.hand.units(nowMs)
    if (units > 0 && remaining + units >= cost && this.giveBack()) return true
    this.#shortage.denied(cost, nowMs + retryAfterMs, this.#round.endsMs)
    return false
  }

  /** The round is over. Reports and refills; returns false if the key is no longer worth a lease, and holds nothing. */
  endRound(): boolean {
    const nowMs = this.#lender.nowMs()
    this.#isAway = false
    this.#expected.endRound(nowMs)
    const isOver = !this.#isUsed || this.#isRetired || this.#isResting(nowMs)
    if (isOver) this.#expected.forget()
    this.#isUsed = false
    if (this.#isAsking) return true
    if (isOver && this.hand.isEmpty) return false
    const sinceMs = nowMs - this.#sentMs
    if (isOver || sinceMs >= (RECENT * this.limit.leaseUs) / 1_000) this.#exchange(true)
    return true
  }

  /** Units or the block were changed in the store: gives the hand back, and forgets what is known. */
  reset(): void {
    if (!this.#isRetired) this.#closedUntilMs = -Infinity
    this.giveBack()
    this.changed()
  }

  /** The key's units were changed in the store, so it may have some again. */
  changed(): void {
    this.#known.forget()
    this.#shortage.forget()
  }

  /** Denies everything for so long, looking again from time to time, and gives the hand back. */
  block(durationMs: number): void {
    this.#close(this.#lender.nowMs(), durationMs)
    this.giveBack()
  }

  /** Decides nothing any more, and gives the hand back: the limit has other numbers now, or the store is closed. */
  retire(): void {
    if (this.#isRetired) return
    this.#isRetired = true
    this.#closedUntilMs = Infinity
    this.giveBack()
  }

  #wait(waiter: Waiter): void {
    this.#waiters.push(waiter)
    if (this.#isAsking) return
    this.#isAsking = true
    queueMicrotask(() => this.#exchange(false))
  }

  #isBlocked(nowMs: number): boolean {
    return nowMs < this.#closedUntilMs && !this.#isRetired
  }

  #close(nowMs: number, durationMs: number): void {
    this.#blockEndsMs = nowMs + durationMs
    if (!this.#isRetired) this.#closedUntilMs = nowMs + Math.min(LOOK_AGAIN_MS, durationMs)
  }

  /** Gives back everything that is in hand, unless a call is under way. */
  giveBack(): boolean {
    if (this.#isAsking) return false
    this.#expected.forget()
    if (!this.hand.isEmpty) this.#exchange(true)
    return true
  }

  #isResting(nowMs: number): boolean {
    return nowMs < this.limit.restsUntilMs
  }

  #refillIfLow(nowMs: number): void {
    if (this.#isAsking || this.#isAway || this.#shortage.isDry(nowMs) || this.#isResting(nowMs)) return
    if (this.hand.units(nowMs) < LOW * this.#expected.units) this.#exchange(false)
  }

  #exchange(isRound: boolean): void {
    const { counts } = this.#lender
    const nowMs = this.#lender.nowMs()
    const target = this.#expected.target(nowMs)
    const { returns, inTime, tooLate } = this.hand.takeReturns(nowMs, isRound ? 2 * target : Infinity)
    const need = this.#waiters.reduce((sum, { cost }) => sum + cost, 0)
    const canRefill = !this.#shortage.isDry(nowMs) && nowMs >= this.#closedUntilMs
    const want = need + (canRefill ? Math.max(0, target - this.hand.units(nowMs)) : 0)
    counts.returned += inTime
    counts.expired += tooLate
    this.#isAsking = want > 0 || returns.length > 0
    if (!this.#isAsking) return
    this.#sentMs = nowMs
    const { name, limit, leaseUs } = this.limit
    const request = { name, limit, key: this.key, leaseUs, want, returns }
    void this.#lender.exchange(request).then((answer) => this.#answered(answer, want, nowMs))
  }

  #answered(answer: LeaseAnswer | LeaseFailure, want: number, sentMs: number): void {
    this.#isAsking = false
    const waiters = this.#waiters
    this.#waiters = []
    if ('instead' in answer) {
      this.#isAway = ++this.#failures > 1
      for (const waiter of waiters) waiter.answer(answer)
      return
    }
    const nowMs = this.#lender.nowMs()
    const isLate = this.#learn(answer, sentMs, nowMs)
    const isDry = answer.granted < want
    if (isDry && !isLate && !answer.isBlocked) this.#shortage.dry(answer, sentMs, this.#round.endsMs, this.limit)
    for (const waiter of waiters) {
      const isBlocked = this.#isBlocked(nowMs)
      const promised = isBlocked ? undefined : this.hand.promise(nowMs, waiter.cost)
      if (promised !== undefined || isBlocked) waiter.answer(promised)
      else if (isLate) waiter.answer('late')
      // Requests that came after the call was sent may find too few units although the store has more.
      else if (isDry) waiter.answer(undefined)
      else this.#wait(waiter)
    }
    if (nowMs < this.#closedUntilMs) this.giveBack()
  }

  /** Returns whether the answer came so late that its units are over. */
  #learn(answer: LeaseAnswer, sentMs: number, nowMs: number): boolean {
    this.#failures = 0
    this.#lender.counts.granted += answer.granted
    const isLate = answer.granted > 0 && !this.hand.add(answer, sentMs, nowMs)
    if (nowMs - sentMs > (LATE * this.limit.leaseUs) / 1_000) this.limit.restsUntilMs = nowMs + REST_MS
    this.#known.learn(answer, sentMs, nowMs)
    if (answer.isBlocked) this.#close(sentMs, answer.decisionFor(0).retryAfterMs)
    return isLate
  }
}
