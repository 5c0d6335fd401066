import { checkCost } from '../checks/check-value.js'
import { warn } from '../errors.js'

const costs = new WeakMap<object, number>()
const expected = new WeakSet<object>()
let hasWarned = false

/**
 * Reports the real cost of a request, from inside its handler. `settle` gets it when the response is over. Pass the object that
 * the framework passes to the handler: `req`, `request`, `ctx` or `c`.
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
    'setCost has no effect on a request that is not settled: give rateLimit settle: ({ cost, taken }) => cost ?? taken, ' +
      'and give setCost the request that the framework passes to the handler',
    'SLUICE_COST',
  )
}

/** Notes that a request will be settled, so that `setCost` need not warn. */
export function expectCost(request: object): void {
  expected.add(request)
}

export function costOf(request: object): number | undefined {
  return costs.get(request)
}
