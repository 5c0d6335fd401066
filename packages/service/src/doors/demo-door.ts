import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import { badRequest, Problem, shown } from '../server/problem.js'
import { checkMembers } from './read-check.js'

const MAX_BYTES = 1024

/**
 * `POST /v1/demo`: begins or ends the demo's traffic. Needs no token: the traffic is made up, and there is none beside a
 * policy of the operator's.
 */
export function demoDoor(service: DecisionService): Door {
  return {
    name: 'demo',
    routes: {
      'POST /v1/demo': (exchange) =>
        exchange.readObject(MAX_BYTES, (body) => {
          checkMembers(body, ['running'])
          const { running } = body
          if (typeof running !== 'boolean') throw badRequest(`running must be true or false, got ${shown(running)}`)
          if (service.switchDemo === undefined)
            throw new Problem(
              404,
              'There is no demo',
              'the demo runs with the example policy only: sluice serve, without --policy, begins it',
            )
          service.switchDemo(running)
          exchange.json(JSON.stringify({ running }))
        }),
    },
  }
}
