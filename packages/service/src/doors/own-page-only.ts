import type { Door, Handler } from '../server/door.js'
import { Problem } from '../server/problem.js'

/** What browsers say of a request that this service's page makes, or that a person types. Other clients say nothing. */
const OWN: readonly unknown[] = [undefined, 'same-origin', 'none']

/**
 * The routes of a door without other sites: a page of another site that an operator's browser shows could use up the
 * streams, and end the demo. It cannot read the answers, but it could ask. Such a page has no admin token to send.
 */
export function ownPageOnly(door: Door): Door {
  const guarded = Object.entries(door.routes).map(([name, handler]): [string, Handler] => [
    name,
    (exchange) => {
      if (OWN.includes(exchange.request.headers['sec-fetch-site'])) return handler(exchange)
      throw new Problem(
        403,
        'Another site may not ask this',
        'a browser asks this for a page of another site; only the page of this service may, at GET /',
      )
    },
  ])
  return { ...door, routes: Object.fromEntries(guarded) }
}
