import { checkKey } from '../checks/check-value.js'
import type { Asker } from '../diagnostics/decision-channel.js'
import type { Timed } from '../limiter/index.js'
import { isConcurrency } from '../limits/index.js'
import { openObserved } from '../reservations/open-observed.js'
import { type OpenReservations, openReservationsOf, scopedId } from '../reservations/open-reservations.js'
import {
  type Awaitable,
  type Correction,
  copiesOf,
  correctionsOf,
  type OpenReservation,
  refundsOf,
  type Store,
} from '../stores/index.js'
import { after } from '../stores/store.js'
import type { Matcher } from './matcher.js'
import { checkActual } from './taken-demands.js'
import { type LevelDemand, type Verdict, verdictOf } from './verdict.js'

/** A reservation on any store. Methods return promises on a store that answers later. Only one with a `ttl` has an id. */
export interface StoreReservation extends Partial<Timed> {
  readonly verdict: Verdict
  settle(actual: unknown): Awaitable<boolean>
  cancel(): Awaitable<boolean>
  release(): Awaitable<boolean>
  [Symbol.dispose](): Awaitable<unknown>
}

/** A request, and the demands that it makes. `isKnown`: all run-time overrides were known when they were made. */
interface DemandingRequest {
  /** A copy of its attributes. */
  readonly request: object
  /** The cost of the call. */
  readonly cost: number
  readonly demands: readonly LevelDemand[]
  readonly isKnown: boolean
}

/** What a policy needs to settle a reservation, as the store keeps it. */
interface ReservationData {
  readonly request: object
  readonly cost: number
  /** The level of each demand. */
  readonly levels: readonly string[]
}

/** The reservations of a policy that have a `ttl`. Any process with the same policy on the same store can settle them. */
export class TimedPolicyReservations {
  readonly #asker: Asker
  readonly #matcher: Matcher
  readonly #store: Store

  constructor(asker: Asker, matcher: Matcher, store: Store) {
    this.#asker = asker
    this.#matcher = matcher
    this.#store = store
  }

  reserve(id: string, asked: DemandingRequest, ttlMs: number): Awaitable<StoreReservation> {
    const { request, cost, demands, isKnown } = asked
    const levels = demands.map(({ level }) => level)
    const data = JSON.stringify({ request, cost, levels } satisfies ReservationData)
    const isSame = (other: string) => isSameRequest(JSON.parse(other), JSON.parse(data), this.#matcher.attributes)
    const asking = { id: this.#idOf(id), demands, ttlMs, data, isKnown, request, cost, isSame }
    return after(openObserved(this.#store, this.#asker, asking), ({ reservation }) => {
      const { allowed, decisions } = reservation.answer
      const end = (correct: () => readonly Correction[]): Awaitable<boolean> =>
        allowed && this.#open.close(reservation, correct())
      const release = () => end(() => refundsOf(reservation, true))
      return {
        // With copies of the decisions, because the caller may change them.
        verdict: verdictOf(withLevels(reservation), copiesOf(decisions), isKnown),
        id,
        endsAtMs: allowed ? reservation.endsAtMs : undefined,
        settle: (actual: unknown) => {
          const wanted = checkActual(actual)
          return end(() => this.#settled(reservation, wanted))
        },
        cancel: () => end(() => refundsOf(reservation)),
        release,
        [Symbol.dispose]: release,
      }
    })
  }

  /** Returns whether this call has ended the reservation, as the other methods do. */
  settle(id: string, actual: unknown): Awaitable<boolean> {
    const wanted = checkActual(actual)
    return this.#end(id, (reservation) => this.#settled(reservation, wanted))
  }

  cancel(id: string): Awaitable<boolean> {
    return this.#end(id, (reservation) => refundsOf(reservation))
  }

  release(id: string): Awaitable<boolean> {
    return this.#end(id, (reservation) => refundsOf(reservation, true))
  }

  get #open(): OpenReservations {
    return openReservationsOf(this.#store)
  }

  #idOf(id: string): string {
    return scopedId('policy', this.#asker.name, id)
  }

  #end(id: string, correct: (reservation: OpenReservation) => readonly Correction[]): Awaitable<boolean> {
    checkKey(id, 'id')
    return this.#open.end(this.#idOf(id), correct)
  }

  /** The corrections for an actual cost. Places of concurrency limits are given back in any case. */
  #settled(reservation: OpenReservation, actual: number | object): readonly Correction[] {
    const { request, cost } = JSON.parse(reservation.data) as ReservationData
    const demands = withLevels(reservation)
    const costs = this.#matcher.costsFor(demands, request, cost)(actual)
    return correctionsOf(demands, reservation.answer, (i) => (isConcurrency(demands[i].limit) ? 0 : costs[i]))
  }
}

/**
 * Is a request with other levels the same request, asked again after the policy has changed? The two policies may ask about
 * different attributes, so only those that the earlier one has kept and the later one asks about are compared.
 */
function isSameRequest(earlier: ReservationData, later: ReservationData, attributes: readonly string[]): boolean {
  const isChanged = earlier.levels.join() !== later.levels.join()
  const shared = Object.entries(earlier.request).filter(([name]) => attributes.includes(name))
  const values = new Map(Object.entries(later.request))
  return isChanged && earlier.cost === later.cost && shared.every(([name, value]) => values.get(name) === value)
}

/** Its demands, with the levels of the policy that opened it: this one, or an earlier version of it. */
function withLevels({ demands, data }: OpenReservation): readonly LevelDemand[] {
  const { levels } = JSON.parse(data) as ReservationData
  return demands.map((demand, i) => ({ ...demand, level: levels[i] }))
}
