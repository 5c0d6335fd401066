import { checkCost, checkKey } from '../checks/check-value.js'
import type { Asker } from '../diagnostics/decision-channel.js'
import { type Decision, isConcurrency } from '../limits/index.js'
import { openObserved } from '../reservations/open-observed.js'
import { openReservationsOf, scopedId } from '../reservations/open-reservations.js'
import {
  type Awaitable,
  type Correction,
  correctionsOf,
  type Demand,
  type OpenReservation,
  type Store,
} from '../stores/index.js'
import { after } from '../stores/store.js'
import type { Timed } from './limiter.js'

/** A reservation on any store; only one with a `ttl` has an id. `settle` returns a promise on a store that answers later. */
export interface StoreReservation extends Partial<Timed> {
  readonly decision: Decision
  settle(actual: number): Awaitable<boolean>
  cancel(): Awaitable<boolean>
}

/** The reservations of a limiter that have a `ttl`. They are kept beside the states of the limit. */
export class TimedReservations {
  readonly #store: Store
  readonly #asker: Asker
  readonly #freed: (key: string) => void

  /** `freed` is called when a reservation of a key that this limiter made or ends is over: units may have come back. */
  constructor(store: Store, asker: Asker, freed: (key: string) => void) {
    this.#store = store
    this.#asker = asker
    this.#freed = freed
  }

  reserve(id: string, demand: Demand, ttlMs: number): Awaitable<StoreReservation> {
    const data = JSON.stringify([demand.key, demand.cost])
    const opening = openObserved(this.#store, this.#asker, { id: this.#idOf(id), demands: [demand], ttlMs, data })
    return after(opening, ({ reservation }) => {
      const { allowed, decisions } = reservation.answer
      openReservationsOf(this.#store).whenExpired(reservation, () => this.#freed(demand.key))
      const settle = (actual: number): Awaitable<boolean> => {
        checkCost(actual, 'actual')
        return allowed && this.#close(reservation, actual)
      }
      const endsAtMs = allowed ? reservation.endsAtMs : undefined
      // A copy, because the caller may change it.
      return { decision: { ...decisions[0] }, id, endsAtMs, settle, cancel: () => settle(0) }
    })
  }

  /** Returns whether this call has ended the reservation. */
  settle(id: string, actual: number): Awaitable<boolean> {
    checkKey(id, 'id')
    checkCost(actual, 'actual')
    const found = openReservationsOf(this.#store).find(this.#idOf(id))
    return after(found, (reservation) => reservation !== undefined && this.#close(reservation, actual))
  }

  #close(reservation: OpenReservation, actual: number): Awaitable<boolean> {
    const closed = openReservationsOf(this.#store).close(reservation, correctionsFor(reservation, actual))
    return after(closed, (hasEnded) => {
      if (hasEnded) this.#freed(reservation.demands[0].key)
      return hasEnded
    })
  }

  #idOf(id: string): string {
    return scopedId('limiter', this.#asker.name, id)
  }
}

/** A place of a concurrency limit is given back whatever the work has cost. */
function correctionsFor({ demands, answer }: OpenReservation, actual: number): readonly Correction[] {
  return correctionsOf(demands, answer, (i) => (isConcurrency(demands[i].limit) ? 0 : actual))
}
