import { systemClock } from '../clock.js'
import { InvalidTypeError, shown } from '../errors.js'
import { durationUs, microseconds, type Taken } from '../limits/index.js'
import type { Answer, Demand } from '../stores/index.js'

/** What a lease holds: units that were taken at a time, and end a `ttl` later. */
export class Place {
  readonly taken: Taken
  readonly #sinceUs: number
  readonly #endsUs: number

  constructor(taken: Taken, ttlUs: number) {
    this.taken = taken
    // Nobody was asked, so nobody has said when.
    this.#sinceUs = taken.degraded === 'open' ? microseconds(systemClock.now()) : taken.atUs
    this.#endsUs = this.#sinceUs + ttlUs
  }

  get endsAtMs(): number {
    return this.#endsUs / 1_000
  }

  /** Was it taken only when another had ended? */
  isAfter(other: Place): boolean {
    return this.#sinceUs >= other.#endsUs
  }
}

/** The place that a demand took, if it did. */
export function placeOf({ limit, cost }: Demand, { allowed, decisions, takenUs }: Answer): Place | undefined {
  if (!allowed || limit.algorithm !== 'concurrency') return undefined
  const [{ delayMs, degraded }] = decisions
  return new Place({ atUs: takenUs[0], cost, delayMs, degraded }, durationUs('ttl', limit.ttl))
}

/** Of what no other limit gives, nobody can hold a place. */
export function checkHasPlaces({ name, limit }: Demand): void {
  if (limit.algorithm === 'concurrency') return
  throw new InvalidTypeError(
    `lease needs a limit made by concurrency({ max, ttl }), and ${shown(name)} is a ${limit.algorithm}: ` +
      'to take units now and settle them later, use reserve',
    { option: 'limit' },
  )
}
