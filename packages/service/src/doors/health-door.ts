import { PROMETHEUS_CONTENT_TYPE } from 'sluice/metrics'
import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import { Problem } from '../server/problem.js'

/**
 * How the service is. `GET /healthz`: the process answers. `GET /readyz`: it also makes a real decision on its store.
 * `GET /metrics`: what the recorder counts, for Prometheus. That needs no token, because it contains no key of a client:
 * only names of policies and levels, and counts.
 */
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
      'GET /metrics': (exchange) => exchange.text(service.recorder.prometheus(), PROMETHEUS_CONTENT_TYPE),
    },
  }
}
