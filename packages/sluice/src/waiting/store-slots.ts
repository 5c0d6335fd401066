import type { Clock } from '../clock.js'
import { exactRate, type LeakyBucket, type Taken } from '../limits/index.js'
import type { Answer, Awaitable, Demand, Store } from '../stores/index.js'
import { isPromiseLike } from '../stores/store.js'
import type { Slot } from './slots.js'
import { StoreTime } from './store-time.js'

/** Held slots move forward when the gap between the clocks turns out to be smaller by this much. */
const MUCH_SMALLER_MS = 5

/** Receives the answer to one question. */
export interface SlotHandler {
  /** `slot` is what was taken, if the store allowed the demand. */
  answered(answer: Answer, slot: Slot | undefined): void
  failed(error: unknown): void
  /**
   * Called after an answer that came later, once the answers that arrived together with it have been told. Also called
   * when the answer is kept back, because it may have told that other slots come earlier.
   */
  settled(): void
}

/**
 * Takes slots from a store and says when they come by the clock of this process. The slots are those of a leaky bucket;
 * units of any other limit have no delay, and come when they are given. `acquire` and the shaper both take their slots
 * here.
 *
 * The time of a slot is known only if the gap to the store's clock is. If an answer leaves the gap in doubt, all answers
 * are kept back until the store has been asked for its time: by then, their slots may turn out to have passed.
 */
export class StoreSlots {
  readonly #store: Store
  readonly #clock: Clock
  readonly #gapShrank: (mostGapMs: number) => void
  readonly #storeTime = new StoreTime()
  #questions = 0
  /** The answers that are kept back. */
  #inDoubt: { readonly tell: () => void; readonly handler: SlotHandler }[] = []

  /** `gapShrank` is told when slots that were given before turn out to come earlier. */
  constructor(store: Store, clock: Clock, gapShrank: (mostGapMs: number) => void = () => {}) {
    this.#store = store
    this.#clock = clock
    this.#gapShrank = gapShrank
  }

  /**
   * Takes a slot, and returns whether the store answered at once: then `answered` has been called. Otherwise one of
   * `answered` and `failed` is called later. Answers that were kept back are told in the order of their questions.
   */
  take(demand: Demand, handler: SlotHandler): boolean {
    const askedMs = this.#clock.now()
    const order = this.#questions++
    let answer: Awaitable<Answer>
    try {
      answer = this.#store.decide([demand])
    } catch (error) {
      handler.failed(error)
      return false
    }
    if (!isPromiseLike(answer)) {
      handler.answered(answer, slotOf(demand, answer, order, this.#clock.now(), askedMs))
      return true
    }
    const arrived = Promise.resolve(answer).then(
      (given) => this.#read(demand, given, order, askedMs, handler),
      (error) => handler.failed(error),
    )
    arrived.then(() => handler.settled())
    return false
  }

  /** Gives back what a demand took. If the store fails, the slot passes unused; otherwise calls `done`. */
  refund(demand: Demand, taken: Taken, done: () => void = () => {}): void {
    if (demand.cost === 0) return
    try {
      const refunded = this.#store.refund(demand, taken)
      if (isPromiseLike(refunded)) refunded.then(done, () => {})
      else done()
    } catch {}
  }

  #read(demand: Demand, answer: Answer, order: number, askedMs: number, handler: SlotHandler): void {
    const nowMs = this.#clock.now()
    const tellsTime = answer.allowed && answer.decisions[0].degraded === undefined
    if (demand.limit.algorithm !== 'leaky-bucket' || !tellsTime) {
      handler.answered(answer, slotOf(demand, answer, order, nowMs, nowMs))
      return
    }
    const [takenUs] = answer.takenUs
    const tell = () => {
      const madeMs = takenUs / 1000 + this.#storeTime.mostGapMs
      handler.answered(answer, slotOf(demand, answer, order, nowMs, madeMs))
    }
    if (this.#learn(answer, askedMs)) tell()
    else if (this.#inDoubt.push({ tell, handler }) === 1) void this.#askTheTime(demand, takenUs)
  }

  /** Takes nothing: the answer tells the store's time, and then the answers that were kept back are given. */
  async #askTheTime(demand: Demand, sinceUs: number): Promise<void> {
    const askedMs = this.#clock.now()
    try {
      const answer = await this.#store.decide([{ ...demand, cost: 0 }])
      const [{ degraded }] = answer.decisions
      // A time before `sinceUs` is not the time of this question.
      if (degraded === undefined && answer.takenUs[0] >= sinceUs) this.#learn(answer, askedMs)
    } catch {
      // The next question to the store fails too, and its caller is told.
    }
    const inDoubt = this.#inDoubt
    this.#inDoubt = []
    for (const { tell } of inDoubt) tell()
    for (const { handler } of inDoubt) handler.settled()
  }

  #learn({ takenUs }: Answer, askedMs: number): boolean {
    const beforeMs = this.#storeTime.mostGapMs
    const isKnown = this.#storeTime.learn(takenUs[0] / 1000, askedMs, this.#clock.now())
    const { mostGapMs } = this.#storeTime
    if (beforeMs < Infinity && beforeMs - mostGapMs > MUCH_SMALLER_MS) this.#gapShrank(mostGapMs)
    return isKnown
  }
}

/** The length of a slot of one unit, in milliseconds. */
export function slotMs({ drain }: LeakyBucket): number {
  const { units, perUs } = exactRate('drain', drain)
  return Number(perUs) / Number(units) / 1000
}

/** `madeMs` is when the store made the answer, by the clock of this process, at the latest. */
function slotOf({ cost }: Demand, answer: Answer, order: number, nowMs: number, madeMs: number): Slot | undefined {
  if (!answer.allowed) return undefined
  const [{ delayMs, degraded }] = answer.decisions
  const [atUs] = answer.takenUs
  const taken: Taken = { atUs, cost, delayMs, degraded }
  if (degraded === undefined)
    return { dueMs: madeMs + delayMs, atMs: atUs / 1000 + delayMs, order, isAsGiven: true, taken }
  // Without the store, the slot was taken now ('open'), or by the clock of this process ('local').
  const atMs = (degraded === 'open' ? nowMs : atUs / 1000) + delayMs
  return { dueMs: atMs, atMs, order, isAsGiven: false, taken }
}
