import { checkCost } from '../checks/check-value.js'
import { warn } from '../stores/warn.js'

const costs = new WeakMap<object, number>()
const expected = new WeakSet<object>()
let hasWarned = false

/**
 * Says what a request has really cost, from inside its handler: `settle` is told, when the response is over. The request is
 * what the framework hands to a handler: `req`, `request`, `ctx` or `c`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { tokenBucket } from 'sluice'
 * import { setCost } from 'sluice/http'
 * import { rateLimit } from 'sluice/node'
 *
 * const limited = rateLimit({
 *   limit: tokenBucket({ capacity: 1_000, refill: '100/s' }),
 *   cost: 10,
 *   settle: ({ cost, taken }) => cost ?? taken,
 * })
 *
 * createServer((req, res) =>
 *   limited(req, res, () => {
 *     setCost(req, 3)
 *     res.end('done')
 *   }),
 * )
 * ```
 */
export function setCost(request: object, units: number): void {
  checkCost(units)
  costs.set(request, units)
  if (hasWarned || expected.has(request)) return
  hasWarned = true
  warn(
    'setCost was told of a request that nobody settles: give rateLimit settle: ({ cost, taken }) => cost ?? taken, ' +
      'and setCost what the framework hands to a handler',
    'SLUICE_COST',
  )
}

/** Somebody is going to settle a request. */
export function expectCost(request: object): void {
  expected.add(request)
}

export function costOf(request: object): number | undefined {
  return costs.get(request)
}
