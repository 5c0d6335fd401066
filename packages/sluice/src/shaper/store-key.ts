import { Waiter } from '../waiting/line.js'
import type { Slots } from '../waiting/slots.js'
import type { TurnRequest } from './queue-shaper.js'
import type { Turn } from './shaper.js'
import { type LineKey, StoreLine, type StoreShaping, type StoreWaiter } from './store-line.js'
import { UnaskedWaiters } from './unasked-waiters.js'

/** The store is asked for at most so many slots of a key at a time. As many usually fit in one call of Redis. */
const LARGEST_ROUND = 128

/**
 * The waiters of one key: a line for each cost, because slots of one cost are interchangeable.
 *
 * A caller usually asks for its slot when it comes. The store is asked later for callers that come in a pause or find no
 * place free, and for waiters that have lost their slots. That happens in rounds, each one larger than the one before while
 * the store allows, and of one question after a denial. Otherwise all of them would ask each time that there is room for one.
 *
 * With `concurrency`, a place is kept for each slot that is held or asked for. So a slot that comes finds a place: none
 * passes unused because work takes long, and no caller leaves later than its slot, close to one of another process.
 */
export class StoreKey implements LineKey {
  readonly shaping: StoreShaping
  readonly key: string
  pausedUntilMs: number
  readonly #forget: () => void
  readonly #lines = new Map<number, StoreLine>()
  #fullUntilMs = -Infinity
  /** Questions of the current round that are not answered yet. */
  #underway = 0
  #roundSize = 1
  readonly #unasked = new UnaskedWaiters()

  /** `forget` is called when no waiters and no questions are left. */
  constructor(key: string, shaping: StoreShaping, pausedUntilMs: number, forget: () => void) {
    this.shaping = shaping
    this.pausedUntilMs = pausedUntilMs
    this.key = key
    this.#forget = forget
  }

  /** The costs of all waiters. */
  get units(): number {
    let units = 0
    for (const { line } of this.#lines.values()) units += line.units
    return units
  }

  get slots(): readonly Slots[] {
    return [...this.#lines.values()].map(({ slots }) => slots)
  }

  /** Must a new caller wait before the store is asked for it: for other waiters, or for a place? */
  get asksLater(): boolean {
    return this.#unasked.size > 0 || this.#placesToKeep <= 0
  }

  get nextRoundMs(): number {
    return this.#underway > 0 || this.#placesToKeep <= 0 ? Infinity : Math.max(this.pausedUntilMs, this.#fullUntilMs)
  }

  /** How many places are free and not kept for a slot. */
  get #placesToKeep(): number {
    const { places } = this.shaping
    if (places === undefined) return Infinity
    let free = places.free(this.key)
    for (const line of this.#lines.values()) free -= line.placesKept
    return free
  }

  join(request: TurnRequest, isAskedLater: boolean): Promise<Turn> {
    const { room } = this.shaping
    const line = this.#line(request.cost)
    return new Promise((resolve, reject) => {
      const waiter: StoreWaiter = new Waiter(line, request, resolve, reject)
      room.admit(waiter)
      room.watch(waiter, room.clock.now())
      if (isAskedLater) {
        this.#unasked.add(waiter)
        line.schedule()
      } else line.ask(waiter)
    })
  }

  /** No waiter may leave before then. Slots that come earlier are lost when they come. */
  pauseUntil(untilMs: number): void {
    this.pausedUntilMs = untilMs
    this.askForLacking()
  }

  rejectAll(error: () => Error): void {
    for (const owner of [...this.#lines.values()])
      for (let { first } = owner.line; first !== undefined; { first } = owner.line) owner.giveUp(first, error())
  }

  askForLacking(): void {
    if (this.#underway > 0) return
    const { clock } = this.shaping.room
    while (this.nextRoundMs <= clock.now()) {
      const round = this.#nextRound()
      if (round.length === 0) break
      this.#underway = round.length
      for (const line of round) {
        // The store may answer at once: then the queue may be full by now, or the line may have enough slots.
        if (line.lacking > 0 && this.#fullUntilMs <= clock.now()) line.ask(undefined)
        else this.#underway--
      }
    }
    this.schedule()
  }

  schedule(): void {
    for (const line of [...this.#lines.values()]) line.schedule()
  }

  endQuestion(isAllowed: boolean): void {
    this.#underway--
    this.#roundSize = isAllowed ? Math.min(LARGEST_ROUND, this.#roundSize + 1) : 1
  }

  noteFull(untilMs: number): void {
    this.#fullUntilMs = untilMs
  }

  /** The gap between the clocks is smaller than was thought, so held slots come earlier. */
  moveSlotsForward(mostGapMs: number): void {
    if (!this.slots.every((slots) => slots.areAsGiven)) return
    for (const line of this.#lines.values()) {
      line.slots.moveForward(mostGapMs)
      line.schedule()
    }
  }

  left(waiter: StoreWaiter): void {
    this.#unasked.delete(waiter)
  }

  forget(line: StoreLine): void {
    const { cost } = line.demand
    // A new line of the same cost may exist by now.
    if (this.#lines.get(cost) !== line) return
    this.#lines.delete(cost)
    if (this.#lines.size === 0) this.#forget()
  }

  #line(cost: number): StoreLine {
    let line = this.#lines.get(cost)
    if (line === undefined) {
      line = new StoreLine(this, { ...this.shaping.named, key: this.key, cost })
      this.#lines.set(cost, line)
    }
    return line
  }

  /** The lines to ask for next, once for each waiter: first those that have lost their slots, then the others as they came. */
  #nextRound(): readonly StoreLine[] {
    const most = Math.min(this.#roundSize, this.#placesToKeep)
    const round: StoreLine[] = []
    for (const line of this.#lines.values())
      for (let lost = line.lacking - this.#unasked.countIn(line); lost > 0 && round.length < most; lost--)
        round.push(line)
    while (round.length < most) {
      const waiter = this.#unasked.takeFirst()
      if (waiter === undefined) break
      round.push(waiter.owner)
    }
    return round
  }
}
