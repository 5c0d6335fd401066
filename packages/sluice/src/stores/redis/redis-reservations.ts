import { arithmeticOf } from '../../limits/index.js'
import { refundsOf } from '../corrections-of.js'
import type { Answer, Correction, Demand, Opening, OpenReservation, Reservations, Store } from '../store.js'
import type { KeyedCorrection, Reply, ReservationPlace } from './batch.js'
import { ForeignState, unavailable } from './failures.js'
import type { KeyLayout } from './key-layout.js'
import type { Link } from './link.js'
import { payloadOf, reservationRecord } from './reservation-record.js'
import { addedUp, readGroup } from './script-call.js'
import { Sweeper } from './sweeper.js'

/** How many reservations that have ended one page of a sweep gives back, for each sorted set. */
const MOST_DUE = 100
/**
 * How many ended reservations that it cannot end one sweep looks at, for each sorted set. The next sweep goes on behind
 * them. With 5,000 such reservations, every other one is given back within about five sweeps.
 */
const MOST_PASSED = 1_000
/** How often `open` gives back an ended reservation that is in its way. One time is enough unless a ttl is very short. */
const MOST_TRIES = 3

/** Heads of the reply to the step that opens; lua/reservations.lua explains them. */
const FREE = 1
const OPEN = 2
const ENDED = 3

/** The store that the reservations belong to, and its parts that they use. */
interface Owner {
  readonly store: Pick<Store, 'decide' | 'charge' | 'refund'>
  readonly link: Link
  readonly layout: KeyLayout
  readonly isCluster: boolean
  readonly keyOf: (demand: Demand) => string
  /** Answers without Redis. */
  readonly instead: (demands: readonly Demand[]) => Answer
  /** Told of every answer of Redis. */
  readonly answered: (demands: readonly Demand[], answer: Answer) => void
}

type Asked = Pick<OpenReservation, 'id' | 'demands' | 'data'>

/** A reservation of the same id whose time is over. It must be given back before the id can be used again. */
interface InTheWay {
  readonly ended: OpenReservation
}

/**
 * Keeps reservations in Redis. On one server, the call of the script that takes the units also writes the record, and the
 * call that removes the record also gives the units back. So a process that dies at any moment loses no unit, and no unit
 * is given back twice.
 *
 * In a cluster the record and the states are on different servers, and these are two calls: units are taken before the
 * record is written, and the record is removed before they are given back. A process that dies between two calls leaves
 * units taken. No unit is given back twice there either.
 */
export class RedisReservations implements Reservations {
  readonly #owner: Owner
  readonly #sweeper: Sweeper
  /** For each sorted set, how many ended reservations that cannot be ended the next sweep passes unread. */
  readonly #passed: number[] = []

  constructor(owner: Owner) {
    this.#owner = owner
    this.#sweeper = new Sweeper(() => this.#sweep())
  }

  async open(id: string, demands: readonly Demand[], ttlMs: number, data: string): Promise<Opening> {
    this.#sweeper.start()
    const place = this.#placeOf(id)
    const asked = { id, demands, data }
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const opening = this.#owner.isCluster
        ? await this.#decideThenKeep(place, asked, ttlMs)
        : await this.#keep(place, asked, ttlMs, undefined, () => unkept(asked, this.#owner.instead(demands)))
      if (!('ended' in opening)) return opening
      await this.#giveBack(place, opening.ended)
    }
    throw unavailable('nothing was taken', 'foreign', new Error(`the reservation ${id} ends faster than it is opened`))
  }

  async find(id: string): Promise<OpenReservation | undefined> {
    this.#sweeper.start()
    return this.#findOpen(this.#placeOf(id))
  }

  async close(reservation: OpenReservation, corrections: readonly Correction[]): Promise<boolean> {
    this.#sweeper.start()
    return this.#end(this.#placeOf(reservation.id), reservation.openedUs, false, corrections)
  }

  sweep(): Promise<void> {
    return this.#sweeper.now()
  }

  /** Ends the sweeps of this process. A later call begins them again. */
  stop(): void {
    this.#sweeper.stop()
  }

  #placeOf(id: string): ReservationPlace {
    return this.#owner.layout.ofReservation(id, this.#owner.isCluster)
  }

  /**
   * Decides and keeps in one call; with `known`, which was decided before, it only keeps. `failed` answers if Redis does
   * not.
   */
  #keep(
    place: ReservationPlace,
    asked: Asked,
    ttlMs: number,
    known: Answer | undefined,
    failed: () => Opening,
  ): Promise<Opening | InTheWay> {
    const { id, demands, data } = asked
    const keys = known === undefined ? demands.map(this.#owner.keyOf) : []
    const added = known === undefined ? addedUp(keys, demands) : []
    return this.#owner.link.ask<Opening | InTheWay>({
      keys: [place.record, place.ends, ...keys],
      addTo: (batch) => batch.openReservation(place, ttlMs, payloadOf(id, demands, data, known), added),
      read: (reply) => {
        const head = reply.number()
        if (head === OPEN || head === ENDED) return readOther(head, reply, place)
        if (head !== FREE) return new ForeignState([place.record, place.ends])
        const group = readGroup(added, reply, keys)
        if (group instanceof ForeignState) return group
        if (known === undefined) this.#owner.answered(demands, group)
        const answer = known ?? group
        if (!answer.allowed) return unkept(asked, answer)
        const [openedUs, endsAtMs] = [reply.number(), reply.number()]
        return { reservation: { ...asked, answer, openedUs, endsAtMs }, isNew: true, isKept: true }
      },
      fail: failed,
    })
  }

  /** In a cluster: looks for an open reservation, decides, then keeps. */
  async #decideThenKeep(place: ReservationPlace, asked: Asked, ttlMs: number): Promise<Opening | InTheWay> {
    let canKeep = true
    const other = await this.#read(place).catch(() => {
      canKeep = false
    })
    if (other !== undefined) return other
    const answer = await this.#owner.store.decide(asked.demands)
    const isDegraded = answer.decisions.some(({ degraded }) => degraded !== undefined)
    if (!canKeep || !answer.allowed || isDegraded) return unkept(asked, answer)
    // If the answer is lost, Redis may have kept the reservation, and would then give its units back. So this process
    // must not: it marks them as not taken from Redis.
    const opening = await this.#keep(place, asked, ttlMs, answer, () => unkept(asked, asDegraded(answer)))
    const isOwn = !('ended' in opening) && opening.isNew
    if (!isOwn) await this.#correct(refundsOf({ demands: asked.demands, answer }))
    return opening
  }

  async #findOpen(place: ReservationPlace): Promise<OpenReservation | undefined> {
    const found = await this.#read(place)
    if (found === undefined || !('ended' in found)) return found?.reservation
    await this.#giveBack(place, found.ended)
    return undefined
  }

  #read(place: ReservationPlace): Promise<Opening | InTheWay | undefined> {
    return this.#owner.link.ask<Opening | InTheWay | undefined>({
      keys: [place.record],
      addTo: (batch) => batch.findReservation(place),
      read: (reply) => {
        if (reply.number() === 0) return undefined
        const reservation = reservationRecord(reply.text())
        if (reservation === undefined) return new ForeignState([place.record])
        return reservation.endsAtMs * 1_000 <= reply.nowUs
          ? { ended: reservation }
          : { reservation, isNew: false, isKept: true }
      },
      fail: (reason, error) => Promise.reject(unavailable('the reservation may be open or over', reason, error)),
    })
  }

  /** Removes the record and makes the corrections, if the reservation is still there and has ended or not, as said. */
  async #end(
    place: ReservationPlace,
    openedUs: number,
    hasEnded: boolean,
    corrections: readonly Correction[],
  ): Promise<boolean> {
    const { link, isCluster, keyOf } = this.#owner
    const inCall: readonly KeyedCorrection[] = isCluster
      ? []
      : corrections.map((correction) => ({ ...correction, key: keyOf(correction.demand) }))
    const isEnded = await link.ask<boolean>({
      keys: [place.record, place.ends, ...inCall.map(({ key }) => key)],
      addTo: (batch) => batch.closeReservation(place, openedUs, hasEnded, inCall),
      read: (reply) => {
        if (reply.number() === 0) return false
        // Nothing can be given back to a key that holds no state.
        for (const { demand } of inCall) reply.next(arithmeticOf(demand.limit))
        return true
      },
      fail: (reason, error) => Promise.reject(unavailable('the reservation may be open or over', reason, error)),
      isUrgent: true,
    })
    if (isEnded && isCluster) await this.#correct(corrections)
    return isEnded
  }

  async #correct(corrections: readonly Correction[]): Promise<void> {
    const { store } = this.#owner
    await Promise.all(
      corrections.map(({ demand, taken }) =>
        taken === undefined ? store.charge(demand) : store.refund(demand, taken),
      ),
    )
  }

  /** Gives back what has ended. Other processes do the same: a reservation that one of them has ended is skipped. */
  async #sweep(): Promise<void> {
    const { layout, isCluster } = this.#owner
    await Promise.all(layout.ofEnds(isCluster).map((ends, part) => this.#sweepPart(ends, part)))
  }

  /**
   * Records of a newer version, broken records and values of other programs stay in the sorted set, and must not stop the
   * sweep. If another process removes some meanwhile, this sweep may miss as many; the next one finds them.
   */
  async #sweepPart(ends: string, part: number): Promise<void> {
    const { layout } = this.#owner
    const start = this.#passed[part] ?? 0
    for (let from = start; from < start + MOST_PASSED; ) {
      const members = await this.#due(ends, from)
      const ended = await Promise.all(members.map((member) => this.#sweepMember(layout.ofMember(member, part))))
      from += ended.filter((isEnded) => !isEnded).length
      this.#passed[part] = members.length < MOST_DUE ? 0 : from
      if (members.length < MOST_DUE) return
    }
  }

  /** Resolves with true if this call has ended the reservation. */
  async #sweepMember(place: ReservationPlace): Promise<boolean> {
    const found = await this.#read(place).catch(() => 'unreadable' as const)
    if (found === 'unreadable') return false
    if (found !== undefined) return 'ended' in found && this.#giveBack(place, found.ended)
    // A member without a record is removed.
    return this.#end(place, 0, true, [])
  }

  #giveBack(place: ReservationPlace, ended: OpenReservation): Promise<boolean> {
    return this.#end(place, ended.openedUs, true, refundsOf(ended))
  }

  /** A page of the members that have ended, without the first `from`. */
  #due(ends: string, from: number): Promise<readonly string[]> {
    return this.#owner.link.ask<readonly string[]>({
      keys: [ends],
      addTo: (batch) => batch.dueReservations(ends, from, MOST_DUE),
      read: (reply) => Array.from({ length: reply.number() }, () => reply.text()),
      fail: (reason, error) => Promise.reject(unavailable('what has ended is given back later', reason, error)),
    })
  }
}

/** Reads the record of a reservation that the id already has. */
function readOther(head: number, reply: Reply, place: ReservationPlace): Opening | InTheWay | ForeignState {
  const reservation = reservationRecord(reply.text())
  if (reservation === undefined) return new ForeignState([place.record])
  return head === ENDED ? { ended: reservation } : { reservation, isNew: false, isKept: true }
}

/** A reservation that Redis does not keep: it was denied, or Redis did not answer. */
function unkept(asked: Asked, answer: Answer): Opening {
  return { reservation: { ...asked, answer, openedUs: 0, endsAtMs: 0 }, isNew: true, isKept: false }
}

/** The same answer, from which nothing is given back to Redis. */
function asDegraded(answer: Answer): Answer {
  return { ...answer, decisions: answer.decisions.map((decision) => ({ ...decision, degraded: 'open' as const })) }
}
