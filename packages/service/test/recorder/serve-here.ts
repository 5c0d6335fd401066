import { type ParsedMetric, parseExposition } from '../../../sluice/test/metrics/parse-exposition.js'
import { createLog } from '../../dist/serve/log.js'
import { readServeOptions } from '../../dist/serve/serve-options.js'
import { type RunningService, startService } from '../../dist/serve/start-service.js'

/** Starts a service in this process on a free port of the loopback interface. */
export function serveHere(options: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  const log = createLog('off', { write: () => {} })
  return startService(readServeOptions({ http: '127.0.0.1:0', 'shutdown-ms': '100', ...options }, {}), log)
}

/** What a scrape of the service reads. Throws if Prometheus would refuse it. */
export async function scrape(url: string): Promise<Map<string, ParsedMetric>> {
  const response = await fetch(`${url}/metrics`)
  if (response.headers.get('content-type') !== 'text/plain; version=0.0.4; charset=utf-8')
    throw new Error(`wrong content type ${response.headers.get('content-type')}`)
  return parseExposition(await response.text())
}

/** The value of one series; `undefined` if it is not there. */
export function sampleOf(metrics: Map<string, ParsedMetric>, series: string): number | undefined {
  const name = series.replace(/\{.*/, '')
  const metric = metrics.get(name) ?? metrics.get(name.replace(/_(?:bucket|sum|count)$/, ''))
  return metric?.samples.get(series)
}
