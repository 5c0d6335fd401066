import { InvalidTypeError, InvalidValueError, shown } from '../errors.js'
import {
  type AsyncStore,
  type Correction,
  type Demand,
  type Opening,
  type OpenReservation,
  type Reservations,
  type Store,
  type SyncStore,
  withFallback,
} from '../stores/index.js'
import { type Awaitable, after, isPromiseLike } from '../stores/store.js'
import { LocalReservations } from './local-reservations.js'

/** One for each store, so that all limiters and policies of a store see the same reservations. */
const known = new WeakMap<Store, OpenReservations>()

/** The open reservations of a store: in the store if it keeps them, otherwise in this process. */
export function openReservationsOf(store: Store): OpenReservations {
  let reservations = known.get(store)
  if (reservations === undefined) {
    reservations = new OpenReservations(store)
    known.set(store, reservations)
  }
  return reservations
}

/**
 * The open reservations of a store. Reservations that the store cannot keep, because it keeps none or does not answer, are
 * kept in this process.
 *
 * Ids are compared as well-formed text, as keys are: a lone surrogate equals U+FFFD.
 */
export class OpenReservations {
  readonly #local: LocalReservations
  readonly #remote: Reservations | undefined
  /** Reservations that are being opened. A second call for the same id waits for the first. */
  readonly #opening = new Map<string, Promise<Opening>>()

  constructor(store: Store) {
    this.#local = new LocalReservations(store)
    this.#remote = store.reservations
  }

  /**
   * Decides and keeps, or returns the open reservation of this id. Throws if that one was opened for something else, that
   * is with another `data` that `isSame` does not accept: then nothing is taken.
   */
  open(
    id: string,
    demands: readonly Demand[],
    ttlMs: number,
    data: string,
    isSame: (otherData: string) => boolean = () => false,
  ): Awaitable<Opening> {
    return after(this.#openOnce(id.toWellFormed(), demands, ttlMs, data), (opened) => {
      if (opened.reservation.data === data || isSame(opened.reservation.data)) return opened
      throw new InvalidValueError(`the id ${shown(withoutScope(id))} is open for another request: use a new id`, {
        option: 'id',
      })
    })
  }

  find(id: string): Awaitable<OpenReservation | undefined> {
    const text = id.toWellFormed()
    return this.#local.find(text) ?? this.#remote?.find(text)
  }

  /**
   * Ends the open reservation of this id, if there is one, and corrects what it took. True if this call ended it. If the
   * store fails, the reservation may be open or over, and the caller may try again.
   */
  end(id: string, correct: (reservation: OpenReservation) => readonly Correction[]): Awaitable<boolean> {
    return after(this.find(id), (found) => found !== undefined && this.close(found, correct(found)))
  }

  /** The same for a reservation that is known. */
  close(reservation: OpenReservation, corrections: readonly Correction[]): Awaitable<boolean> {
    const isLocal = this.#local.find(reservation.id)?.openedUs === reservation.openedUs
    return isLocal || this.#remote === undefined
      ? this.#local.close(reservation, corrections)
      : this.#remote.close(reservation, corrections)
  }

  /** Calls `expired` when the reservation ends by itself, if this process keeps it. Of others, this process hears nothing. */
  whenExpired(reservation: OpenReservation, expired: () => void): void {
    this.#local.whenExpired(reservation, expired)
  }

  /** Gives back now what has ended. The store and this process do so by themselves, about once a second. */
  sweep(): Awaitable<void> {
    this.#local.sweep()
    return this.#remote?.sweep?.()
  }

  /** Opens, or waits for a call of the same id that is under way. */
  #openOnce(...asked: Parameters<Reservations['open']>): Awaitable<Opening> {
    const [id] = asked
    const earlier = this.#opening.get(id)
    if (earlier !== undefined) return earlier.then((opening) => ({ ...opening, isNew: false }))
    const opening = this.#open(...asked)
    if (!isPromiseLike(opening)) return opening
    this.#opening.set(id, opening)
    const done = () => void this.#opening.delete(id)
    opening.then(done, done)
    return opening
  }

  #open(...asked: Parameters<Reservations['open']>): Awaitable<Opening> {
    const [id, , ttlMs] = asked
    const local = this.#local.find(id)
    if (local !== undefined) return { reservation: local, isNew: false, isKept: true }
    if (this.#remote === undefined) return this.#local.open(...asked)
    const opened = this.#openRemotely(this.#remote, asked)
    return after(opened, (opening) => {
      const { reservation, isKept } = opening
      // If this process has no room either, the units of an outage stay taken until they come back by themselves.
      if (isKept || !reservation.answer.allowed || !this.#local.hasRoom) return opening
      return { reservation: this.#local.add(reservation, ttlMs), isNew: true, isKept: false }
    })
  }

  /** If the store fails, decides by `onFailure`, as any decision of it. */
  #openRemotely(remote: Reservations, asked: Parameters<Reservations['open']>): Awaitable<Opening> {
    const instead = (error: unknown) => {
      if (remote.tellsFailures === true) throw error
      if (error instanceof InvalidTypeError || error instanceof InvalidValueError) throw error
      return this.#local.open(...asked)
    }
    try {
      const opened = remote.open(...asked)
      return isPromiseLike(opened) ? opened.catch(instead) : opened
    } catch (error) {
      return instead(error)
    }
  }
}

/**
 * The open reservations of a store, for a store of your own that other threads or processes ask through this one: they
 * find, settle and cancel what was opened here. The store keeps them, or else this process does. They live as long as the
 * store.
 *
 * @example
 * ```ts
 * import { memoryStore, reservationsOf } from 'sluice'
 *
 * const store = memoryStore()
 * const reservations = reservationsOf(store)
 * // For a message of another thread: { id, demands, ttlMs, data }
 * const { reservation } = await reservations.open('r1', [], 60_000, '')
 * console.log(await reservations.close(reservation, [])) // true
 * ```
 */
export function reservationsOf(store: SyncStore | AsyncStore): Reservations {
  const known = openReservationsOf(withFallback(store))
  return {
    // The asker compares the data.
    open: (id, demands, ttlMs, data) => known.open(id, demands, ttlMs, data, () => true),
    find: (id) => known.find(id),
    close: (reservation, corrections) => known.close(reservation, corrections),
    sweep: () => known.sweep(),
  }
}

/** Limiters and policies have ids of their own: an id is kept under the kind and the name of its owner. */
export function scopedId(kind: 'limiter' | 'policy' | 'once', name: string, id: string): string {
  return `${kind}:${name.length}:${name}:${id}`
}

function withoutScope(id: string): string {
  const [kind, length] = id.split(':', 2)
  return id.slice(kind.length + length.length + Number(length) + 3)
}
