import { type Asker, type DecidedDemand, decideObserved, decisionChannel } from '../diagnostics/decision-channel.js'
import type { Opening, Store } from '../stores/index.js'
import { type Awaitable, after, isPromiseLike } from '../stores/store.js'
import { openReservationsOf } from './open-reservations.js'

/** A reservation to open. `isKnown`: all run-time overrides were known; default true. */
interface Asking {
  readonly id: string
  readonly demands: readonly DecidedDemand[]
  readonly ttlMs: number
  readonly data: string
  readonly isKnown?: boolean
  /** What a policy was asked. */
  readonly request?: object
  /** The cost of the call. */
  readonly cost?: number
  /** Was an open reservation of this id with other data opened for the same request? Default: no. */
  readonly isSame?: (otherData: string) => boolean
}

/** Opens a reservation. If a subscriber listens, publishes the decision as one of `reserve`. */
export function openObserved(store: Store, asker: Asker, asking: Asking): Awaitable<Opening> {
  const { id, demands, ttlMs, data, isKnown, request, cost, isSame } = asking
  const open = () => openReservationsOf(store).open(id, demands, ttlMs, data, isSame)
  if (!decisionChannel.hasSubscribers) return open()
  let opening: Awaitable<Opening> | undefined
  const asStore = {
    decide() {
      opening = open()
      return after(opening, ({ reservation }) => reservation.answer)
    },
    // Read after `decide`: the reservations of a synchronous store may answer later.
    get synchronous() {
      return !isPromiseLike(opening)
    },
  }
  const answered = decideObserved(asStore, asker, 'reserve', demands, isKnown, request, cost)
  return after(answered, () => opening as Awaitable<Opening>)
}
