/** The record of a reservation in Redis: lua/reservations.lua writes its first line, and this file the rest of it. */
import { arithmeticOf, type Decision, parseLimit } from '../../limits/index.js'
import type { Answer, Demand, OpenReservation } from '../store.js'
import { Reply } from './batch.js'
import { ForeignState } from './failures.js'
import { addedUp, readGroup } from './script-call.js'

/** What this process writes into a record. */
interface Payload {
  readonly id: string
  readonly demands: readonly Demand[]
  readonly data: string
  /** Only if other calls of the script than the one that keeps the record have decided, as in a cluster. */
  readonly answer?: Answer
}

/** The text that a record keeps behind its numbers. */
export function payloadOf(id: string, demands: readonly Demand[], data: string, answer?: Answer): string {
  const plain = demands.map(({ name, limit, key, cost, onFailure, shadow }) => ({
    ...{ name, limit, key, cost },
    ...(onFailure !== undefined && { onFailure }),
    ...(shadow === true && { shadow }),
  }))
  return JSON.stringify({ id, demands: plain, data, ...(answer && { answer }) }, infinityAsText)
}

/** A record of Redis as an open reservation; `undefined` if this version of the library cannot read it. */
export function reservationRecord(text: string): OpenReservation | undefined {
  try {
    const end = text.indexOf('\n')
    const [openedUs, endsAtMs, ...words] = text.slice(0, end).split(',').map(Number)
    const { id, demands: plain, data, answer } = JSON.parse(text.slice(end + 1), textAsInfinity) as Payload
    const demands = plain.map((demand) => ({ ...demand, limit: parseLimit(demand.limit) }))
    const states = demands.map(({ name, key, limit }) => JSON.stringify([name, key, arithmeticOf(limit).stateId]))
    const read = answer ?? readGroup(addedUp(states, demands), new Reply([openedUs, ...words]))
    if (read instanceof ForeignState) return undefined
    return { id, demands, answer: read, data, openedUs, endsAtMs }
  } catch {
    return undefined
  }
}

/** JSON has no infinity. A wait of a shadow's decision may be one, and the quota of an unlimited key is. */
const INFINITE = 'Infinity'
const NUMBERS: readonly string[] = [
  'quota',
  'remaining',
  'retryAfterMs',
  'nextUnitAfterMs',
  'resetAfterMs',
] satisfies (keyof Decision)[]

function infinityAsText(_: string, value: unknown): unknown {
  return value === Infinity ? INFINITE : value
}

function textAsInfinity(name: string, value: unknown): unknown {
  return value === INFINITE && NUMBERS.includes(name) ? Infinity : value
}
