import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import { Problem } from '../server/problem.js'

/**
 * `GET /healthz`: the process answers. `GET /readyz`: it also makes a real decision on its store. While the store is away
 * and the service decides by its rule, the answer is 200 with the status `degraded`.
 */
export function healthDoor(service: DecisionService): Door {
  return {
    name: 'health',
    routes: {
      'GET /healthz': (exchange) => exchange.json('{"status":"ok"}'),
      'GET /readyz': async (exchange) => {
        const { isReady, reason } = await service.readiness()
        if (!isReady) throw new Problem(503, 'The service is not ready', `${reason}`, { 'Retry-After': '1' })
        exchange.json(JSON.stringify(reason === undefined ? { status: 'ready' } : { status: 'degraded', reason }))
      },
    },
  }
}
