import { isObject } from '../../checks/check-options.js'
import { InvalidTypeError } from '../../errors.js'

/**
 * Checks for options that other libraries, or other adapters, have and Nest does not. `what` takes the options: a mistake is
 * reported under the name that the caller wrote.
 */
export function checkNestOptions(what: string, options: unknown): void {
  if (Array.isArray(options)) {
    throw new InvalidTypeError(
      `${what} takes one object of options, got an array; [{ ttl: 60000, limit: 10 }] of @nestjs/throttler is ` +
        "{ limit: fixedWindow({ quota: 10, window: '60s' }) } here, and several limits are { policy: createPolicy({ levels }) }",
      { option: 'limit' },
    )
  }
  if (isObject(options) && Object.hasOwn(options, 'onDenied')) {
    throw new InvalidTypeError(
      `${what} has no option 'onDenied'; in Nest a denial is a RateLimitException, which an exception filter answers: ` +
        '@Catch(RateLimitException)',
      { option: 'onDenied' },
    )
  }
}
