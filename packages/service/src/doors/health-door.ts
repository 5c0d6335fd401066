import { PROMETHEUS_CONTENT_TYPE } from 'sluice/metrics'
import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import { Problem } from '../server/problem.js'

/**
 * How the service is. `GET /healthz`: the process answers. `GET /readyz`: it also makes a real decision on its store; while
 * the store is away and the service decides by its rule, the answer is 200 with the status `degraded`. `GET /metrics`: what
 * the recorder counts, for Prometheus. That needs no token, because it contains no key of a client: only names of policies
 * and levels, and counts.
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
      'GET /metrics': async (exchange) => exchange.text(await service.recorder.scrape(), PROMETHEUS_CONTENT_TYPE),
    },
  }
}
