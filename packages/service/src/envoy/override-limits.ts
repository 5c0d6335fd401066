import { type Duration, fixedWindow, type Limit } from 'sluice'
import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import { type RateLimitOverride, type RateLimitUnit, UNITS } from './rate-limit-request.js'

/** The window of each unit. A month has 30 days and a year 365: Sluice's windows have a fixed length. */
export const WINDOW_OF_UNIT: Readonly<Partial<Record<RateLimitUnit, Duration>>> = {
  [UNITS.second]: '1s',
  [UNITS.minute]: '1m',
  [UNITS.hour]: '1h',
  [UNITS.day]: '1d',
  [UNITS.week]: '7d',
  [UNITS.month]: '30d',
  [UNITS.year]: '365d',
}
/** A store never forgets a limit that counts, so requests may bring this many. */
const MOST_LIMITS = 10_000

/** The limits that requests bring along. Makes each once, and bounds how many the store gets to know. */
export class OverrideLimits {
  /** By unit and number. */
  readonly #limits = new Map<string, Limit>()
  readonly #make: (override: RateLimitOverride) => Limit | undefined

  /** `make` says what a limit of the request means; `undefined` if its unit is unknown. */
  constructor(make: (override: RateLimitOverride) => Limit | undefined = windowLimit) {
    this.#make = make
  }

  /** `undefined` if the unit is unknown: then the limits of the policy count. Throws RESOURCE_EXHAUSTED if there are too many. */
  limitOf(override: RateLimitOverride): Limit | undefined {
    const { requestsPerUnit, unit } = override
    const name = `${unit}/${requestsPerUnit}`
    let limit = this.#limits.get(name)
    if (limit === undefined) {
      limit = this.#make(override)
      if (limit === undefined) return undefined
      if (this.#limits.size >= MOST_LIMITS) throw tooManyLimits()
      this.#limits.set(name, limit)
    }
    return limit
  }
}

function windowLimit({ requestsPerUnit, unit }: RateLimitOverride): Limit | undefined {
  const window = WINDOW_OF_UNIT[unit]
  return window === undefined ? undefined : fixedWindow({ quota: requestsPerUnit, window })
}

function tooManyLimits(): GrpcError {
  return new GrpcError(
    GRPC_STATUS.resourceExhausted,
    `requests have brought ${MOST_LIMITS.toLocaleString('en')} different limits, and the service takes no more until it is restarted`,
  )
}
