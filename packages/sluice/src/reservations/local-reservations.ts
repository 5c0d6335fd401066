import { setQuietAlarm, systemClock } from '../clock.js'
import { StoreFullError } from '../errors.js'
import { microseconds } from '../limits/index.js'
import {
  type Correction,
  copiesOf,
  type Opening,
  type OpenReservation,
  type Reservations,
  refundsOf,
  type Store,
} from '../stores/index.js'
import { type Awaitable, after, isPromiseLike } from '../stores/store.js'
import { Agenda, Reminder } from '../waiting/agenda.js'

/** The most reservations that one process keeps for one store. One takes about 1.3 KB, with four levels about 2.1 KB. */
const MOST_OPEN = 500_000

interface KeptReservation {
  readonly reservation: OpenReservation
  readonly end: Reminder
  /** Called when it has ended by itself. */
  expired?: () => void
}

/**
 * Keeps the open reservations of a store in this process: a table, and one alarm for the one that ends first. Other
 * processes cannot end them. If this process dies, the units that a shared store has given stay taken.
 */
export class LocalReservations implements Reservations {
  readonly #store: Store
  readonly #agenda: Agenda
  readonly #open = new Map<string, KeptReservation>()

  constructor(store: Store) {
    this.#store = store
    this.#agenda = new Agenda(this.#clock, setQuietAlarm)
  }

  open(id: string, demands: OpenReservation['demands'], ttlMs: number, data: string): Awaitable<Opening> {
    const other = this.find(id)
    if (other !== undefined) return { reservation: other, isNew: false, isKept: true }
    this.#checkRoom()
    return after(this.#store.decide(demands), (answer) => {
      const asked = { id, demands, answer, data, openedUs: 0, endsAtMs: 0 }
      if (!answer.allowed) return { reservation: asked, isNew: true, isKept: false }
      const sooner = this.find(id)
      if (sooner === undefined) return { reservation: this.add(asked, ttlMs), isNew: true, isKept: true }
      // Another call with the same id was answered first: this one gives back what it took.
      return after(this.#correct(refundsOf(asked)), () => ({ reservation: sooner, isNew: false, isKept: true }))
    })
  }

  /** Keeps a reservation that was decided, for `ttlMs` from now. */
  add(decided: OpenReservation, ttlMs: number): OpenReservation {
    const nowMs = this.#clock.now()
    const reservation = { ...decided, openedUs: microseconds(nowMs), endsAtMs: nowMs + ttlMs }
    const end = new Reminder(() => this.#expire(reservation))
    this.#open.set(decided.id, { reservation, end })
    this.#agenda.set(end, reservation.endsAtMs)
    return copyOf(reservation)
  }

  /** Calls `expired` when a reservation that this process keeps ends by itself, after its units have come back. */
  whenExpired({ id, openedUs }: OpenReservation, expired: () => void): void {
    const known = this.#open.get(id)
    if (known?.reservation.openedUs === openedUs) known.expired = expired
  }

  find(id: string): OpenReservation | undefined {
    this.sweep()
    const known = this.#open.get(id)
    return known && copyOf(known.reservation)
  }

  close(reservation: OpenReservation, corrections: readonly Correction[]): Awaitable<boolean> {
    const known = this.find(reservation.id)
    if (known === undefined || known.openedUs !== reservation.openedUs) return false
    this.#forget(reservation)
    return after(this.#correct(corrections), () => true)
  }

  /** The alarm may be late. */
  sweep(): void {
    this.#agenda.catchUp()
  }

  /** Is there room for another one? */
  get hasRoom(): boolean {
    return this.#open.size < MOST_OPEN
  }

  get #clock() {
    return this.#store.clock ?? systemClock
  }

  #checkRoom(): void {
    if (this.hasRoom) return
    throw new StoreFullError(
      `this process keeps ${MOST_OPEN.toLocaleString('en')} open reservations and has no room for another: ` +
        'settle or cancel reservations sooner, or give them a shorter ttl',
    )
  }

  #forget({ id }: OpenReservation): void {
    const known = this.#open.get(id)
    if (known === undefined) return
    this.#open.delete(id)
    this.#agenda.drop(known.end)
  }

  /** No caller waits for this: if the store fails, the units stay taken. */
  #expire(reservation: OpenReservation): void {
    const expired = this.#open.get(reservation.id)?.expired
    this.#forget(reservation)
    try {
      const corrected = after(this.#correct(refundsOf(reservation)), () => expired?.())
      if (isPromiseLike(corrected)) corrected.catch(() => {})
    } catch {}
  }

  #correct(corrections: readonly Correction[]): Awaitable<unknown> {
    const store = this.#store
    const results = corrections.map(({ demand, taken }) =>
      taken === undefined ? store.charge(demand) : store.refund(demand, taken),
    )
    return results.some(isPromiseLike) ? Promise.all(results) : undefined
  }
}

/** The same reservation with decisions of its own: a caller gets them and may change them. */
function copyOf(reservation: OpenReservation): OpenReservation {
  const { answer } = reservation
  return { ...reservation, answer: { ...answer, decisions: copiesOf(answer.decisions) } }
}
