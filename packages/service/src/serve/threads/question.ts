import {
  type Correction,
  type Demand,
  InvalidTypeError,
  InvalidValueError,
  type Opening,
  type OpenReservation,
  StoreFullError,
  StoreUnavailableError,
} from 'sluice'
import { limitFrom, type OverrideChange } from './shared-fact.js'

/** Which reservations: those of the policy, or the claims of idempotency keys of refunds. */
export type Book = 'reservations' | 'claims'

/** What a thread asks the first thread to do, because all threads must see it done once. */
export type Question =
  | { readonly override: OverrideChange }
  | { readonly open: readonly [id: string, demands: readonly Demand[], ttlMs: number, data: string]; readonly in: Book }
  | { readonly find: string; readonly in: Book }
  | { readonly close: readonly [OpenReservation, readonly Correction[]]; readonly in: Book }

/** An error as data: a message does not keep its class. */
export interface ToldError {
  readonly name: string
  readonly message: string
  readonly option: string | undefined
}

export function toldError(error: unknown): ToldError {
  const { name, message, option } = error as Error & { option?: string }
  return { name, message, option }
}

const ERRORS: Readonly<Record<string, new (message: string, options: { option?: string | undefined }) => Error>> = {
  InvalidTypeError,
  InvalidValueError,
  StoreFullError,
  StoreUnavailableError,
}

export function errorFrom({ name, message, option }: ToldError): Error {
  const Known = Object.hasOwn(ERRORS, name) ? ERRORS[name] : undefined
  return Known === undefined ? new Error(`the first thread failed: ${message}`) : new Known(message, { option })
}

/** The members of a demand that a store reads. A policy's demands have others, which need not go through a message. */
export function demandData({ name, limit, key, cost, shadow, blockFor, onFailure }: Demand): Demand {
  return { name, limit, key, cost, shadow, blockFor, onFailure }
}

/** Demands that came in a message, with limits that the library knows. */
export function demandFrom(data: Demand): Demand {
  return { ...data, limit: limitFrom(data.limit) }
}

export function reservationFrom(data: OpenReservation): OpenReservation {
  return { ...data, demands: data.demands.map(demandFrom) }
}

export function openingFrom(data: Opening): Opening {
  return { ...data, reservation: reservationFrom(data.reservation) }
}

export function correctionFrom({ demand, taken }: Correction): Correction {
  return { demand: demandFrom(demand), taken }
}

/** The members of a reservation and its corrections that go through a message. */
export function closingData(
  reservation: OpenReservation,
  corrections: readonly Correction[],
): readonly [OpenReservation, readonly Correction[]] {
  return [
    { ...reservation, demands: reservation.demands.map(demandData) },
    corrections.map(({ demand, taken }) => ({ demand: demandData(demand), taken })),
  ]
}
