import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import { Problem } from '../server/problem.js'

/** `GET /healthz`: the process answers. `GET /readyz`: it also makes a real decision on its store. */
export function healthDoor(service: DecisionService): Door {
  return {
    name: 'health',
    routes: {
      'GET /healthz': (exchange) => exchange.json('{"status":"ok"}'),
      'GET /readyz': async (exchange) => {
        const reason = await service.whyNotReady()
        if (reason !== undefined) throw new Problem(503, 'The service is not ready', reason)
        exchange.json('{"status":"ready"}')
      },
    },
  }
}
