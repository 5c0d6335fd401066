import type { Decision } from '../../limits/index.js'
import type { LeaseAnswer, LeaseFailure } from '../leases.js'
import { Hand, type Promised } from './hand.js'
import { KnownState } from './known-state.js'
import type { LeasedLimit, Lender, Round } from './lender.js'

/** What became of a request that waited for the store: its units, a failure of the store, or a denial. */
export type Outcome = Promised | LeaseFailure | undefined

/** A request that waits for the store's answer. */
interface Waiter {
  readonly cost: number
  readonly answer: (outcome: Outcome) => void
}

/** Clocks of this process and of the store may differ in speed by one in a hundred. */
const SURE = 0.99
/** A key asks for so much more than it expects to spend. */
const MARGIN = 1.25
/** Below this share of the expected units, the key asks for more before its time. */
const LOW = 0.25
/** After this share of a lease time, a key foresees from the requests of the round how many will come until its end. */
const FORESEEN = 1 / 8
/** A request for more than this share of the quota asks the store directly: its units would be missed by other nodes. */
const LARGE = 0.25
/** A key that called the store less than this share of a lease time ago does not call again at the end of the round. */
const RECENT = 0.65
/** A key that is blocked or has no units looks again after this long, because another process may have changed that. */
const LOOK_AGAIN_MS = 1_000

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
  /** Was the key asked for since the last round? For how many units, and how many does it expect in a round? */
  #isUsed = true
  #asked = 0
  #expected: number
  #roundBeganMs: number
  /** Until then the store has no more units than it granted last. */
  #dryUntilMs = -Infinity
  /** Until then the key decides nothing from its hand: it is blocked, or retired. */
  #closedUntilMs = -Infinity
  #isRetired = false
  #blockEndsMs = 0
  /** The store did not answer: until the round ends, requests that lack units ask it directly. */
  #isAway = false
  readonly #known: KnownState

  constructor(lender: Lender, round: Round, limit: LeasedLimit, key: string, expected: number) {
    this.#lender = lender
    this.#round = round
    this.limit = limit
    this.key = key
    this.#known = new KnownState(limit.quota)
    this.#expected = Math.min(expected, limit.quota * LARGE)
    this.#roundBeganMs = lender.nowMs()
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
      this.#asked += cost
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
    return this.#isRetired || asksIfDry || nowMs >= this.#dryUntilMs ? undefined : this.denial(cost)
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
    return !this.#isAway && this.#lender.nowMs() >= this.#closedUntilMs && cost <= Math.max(1, this.#expected)
  }

  /** Asks for units if few are in hand. */
  refill(): void {
    this.#refillIfLow(this.#lender.nowMs())
  }

  /** Counts a request that the store decides. */
  expect(cost: number): void {
    this.#isUsed = true
    if (cost <= Math.max(1, this.limit.quota * LARGE)) this.#asked += cost
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
    return this.#known.denied(cost, this.hand.units(nowMs), this.#dryUntilMs, nowMs)
  }

  /** The store's own decision for this key, which does not know the units in hand. */
  withHand(decision: Decision): Decision {
    const units = this.hand.units(this.#lender.nowMs())
    if (units === 0 || !decision.allowed || decision.degraded !== undefined) return decision
    return { ...decision, remaining: Math.min(decision.quota, decision.remaining + units) }
  }

  /** The round is over. Reports and refills; returns false if the key is no longer worth a lease, and holds nothing. */
  endRound(): boolean {
    this.#isAway = false
    this.#expected = Math.max(this.#asked, (this.#expected + this.#asked) / 2)
    this.#asked = 0
    const isOver = !this.#isUsed || this.#isRetired
    if (isOver) this.#expected = 0
    this.#isUsed = false
    const nowMs = this.#lender.nowMs()
    this.#roundBeganMs = nowMs
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
    this.#dryUntilMs = -Infinity
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
  giveBack(): void {
    this.#expected = 0
    this.#asked = 0
    if (!this.#isAsking && !this.hand.isEmpty) this.#exchange(true)
  }

  #refillIfLow(nowMs: number): void {
    if (this.#isAsking || this.#isAway || nowMs < this.#dryUntilMs) return
    const expected = Math.max(this.#asked, this.#expected)
    if (this.hand.units(nowMs) < LOW * expected) this.#exchange(false)
  }

  /**
   * What the requests of this round will have asked for at its end, if they go on as they began, so that a load which grows
   * costs few calls. Example: if 10 units were asked for in a quarter of a lease time, it is 40, but at most a quarter of the
   * quota: a short burst must not take everything.
   */
  #askedByEndOfRound(nowMs: number): number {
    const share = (nowMs - this.#roundBeganMs) / (this.limit.leaseUs / 1_000)
    if (share < FORESEEN || share > 1) return this.#asked
    return Math.max(this.#asked, Math.min(this.#asked / share, this.limit.quota * LARGE))
  }

  #exchange(isRound: boolean): void {
    const { counts } = this.#lender
    const nowMs = this.#lender.nowMs()
    const target = Math.ceil(MARGIN * Math.max(this.#expected, this.#askedByEndOfRound(nowMs)))
    const { returns, inTime, tooLate } = this.hand.takeReturns(nowMs, isRound ? 2 * target : Infinity)
    const need = this.#waiters.reduce((sum, { cost }) => sum + cost, 0)
    const canRefill = nowMs >= this.#dryUntilMs && nowMs >= this.#closedUntilMs
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
      this.#isAway = true
      for (const waiter of waiters) waiter.answer(answer)
      return
    }
    const nowMs = this.#lender.nowMs()
    this.#learn(answer, sentMs, nowMs)
    const isDry = answer.granted < want
    if (isDry && !answer.isBlocked) {
      const unitAfterMs = Math.min(LOOK_AGAIN_MS, answer.decisionFor(1).retryAfterMs)
      // An answer that was long under way says little about the present.
      const roundEndsMs = Math.min(this.#round.endsMs, sentMs + (MARGIN * this.limit.leaseUs) / 1_000)
      this.#dryUntilMs = Math.max(roundEndsMs, sentMs + unitAfterMs)
    }
    for (const waiter of waiters) {
      const isBlocked = this.#isBlocked(nowMs)
      const promised = isBlocked ? undefined : this.hand.promise(nowMs, waiter.cost)
      // Requests that came after the call was sent may find too few units although the store has more.
      if (promised === undefined && !isDry && !isBlocked) this.#wait(waiter)
      else waiter.answer(promised)
    }
    if (nowMs < this.#closedUntilMs) this.giveBack()
  }

  #learn(answer: LeaseAnswer, sentMs: number, nowMs: number): void {
    const { granted, roundUs, lastsMs } = answer
    this.#lender.counts.granted += granted
    if (granted > 0) {
      const takenUs = Math.round(roundUs - lastsMs * 1_000)
      this.hand.add(granted, { roundUs, takenUs, untilMs: sentMs + SURE * lastsMs }, nowMs)
    }
    this.#known.learn(answer, sentMs, nowMs)
    if (answer.isBlocked) this.#close(sentMs, answer.decisionFor(0).retryAfterMs)
  }
}
