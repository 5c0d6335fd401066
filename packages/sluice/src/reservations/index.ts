/** Reservations that end by themselves, and that any process can settle. */
export { type ClaimOnceOptions, claimOnce } from './claim-once.js'
export { reservationsOf } from './open-reservations.js'
