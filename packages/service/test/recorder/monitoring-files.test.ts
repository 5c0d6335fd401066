/** The dashboard and the alert rules in docs/monitoring ask only for metrics and labels that a scrape has. */
import { readFileSync } from 'node:fs'
import { memoryStore } from 'sluice'
import { PrometheusText } from 'sluice/metrics'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseExposition } from '../../../sluice/test/metrics/parse-exposition.js'
import { storeHealth, writeStoreHealth } from '../../dist/recorder/store-health.js'
import type { RunningService } from '../../dist/serve/start-service.js'
import { scrape, serveHere } from './serve-here.js'

const folder = new URL('../../../../docs/monitoring/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

/** Labels by the name of a series. Prometheus itself adds `job` and `instance`. */
const known = new Map<string, Set<string>>([['up', new Set(['job', 'instance'])]])
let running: RunningService

beforeAll(async () => {
  running = await serveHere()
  const body = JSON.stringify({ checks: [{ attributes: { merchant: 'a', ip: '192.0.2.1' } }] })
  await fetch(`${running.url}/v1/check/batch`, { method: 'POST', body })
  const ofRedis = new PrometheusText()
  writeStoreHealth(ofRedis, {
    kind: 'redis',
    calls: 0,
    batches: 0,
    degraded: { deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 },
    late: 0,
    scriptsSent: 0,
    pending: 0,
    batchesInFlight: 0,
    reconnects: 0,
    breaker: 'closed',
    leases: { keys: 0, held: 0, granted: 0, spent: 0, returned: 0, expired: 0, exchanges: 0, direct: 0 },
  })
  for (const metrics of [await scrape(running.url), parseExposition(ofRedis.toString())])
    for (const { samples } of metrics.values()) for (const series of samples.keys()) learn(series)
})

afterAll(() => running.close())

function learn(series: string): void {
  const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? []
  const names = known.get(name) ?? new Set(['job', 'instance'])
  for (const [, label] of labels.matchAll(/(\w+)="/g)) names.add(label)
  known.set(name, names)
}

/** Every metric of a query with the labels that it selects. */
function selectorsOf(query: string): readonly (readonly [string, readonly string[]])[] {
  const found = query.matchAll(/\b(up|(?:sluice|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)
  return [...found].map(([, name, labels = '']) => [name, [...labels.matchAll(/(\w+)=/g)].map(([, label]) => label)])
}

function checkQuery(query: string): void {
  const selectors = selectorsOf(query)
  expect(selectors, query).not.toHaveLength(0)
  for (const [name, labels] of selectors) {
    expect([...known.keys()], `${name} in ${query}`).toContain(name)
    for (const label of labels) expect([...(known.get(name) ?? [])], `${label} in ${query}`).toContain(label)
  }
  const all = new Set(selectors.flatMap(([name]) => [...(known.get(name) ?? [])]))
  for (const [, list] of query.matchAll(/\bby \(([^)]*)\)/g))
    for (const label of list.split(/,\s*/)) expect([...all], `by ${label} in ${query}`).toContain(label)
}

describe('the files for monitoring', () => {
  it('have a dashboard whose queries all name metrics that exist', () => {
    const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
      panels: { id: number; type: string; targets?: { expr: string }[] }[]
    }
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    expect(queries.length).toBeGreaterThan(30)
    for (const query of queries) checkQuery(query)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { type, targets = [] } of panels) expect(type === 'row' || targets.length > 0).toBe(true)
  })

  it('have alerts whose rules all name metrics that exist', () => {
    const { groups } = parse(read('alerts.yaml')) as {
      groups: { rules: { alert: string; expr: string; annotations: { summary: string; description: string } }[] }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    expect(rules.length).toBeGreaterThan(10)
    for (const { expr, annotations } of rules) {
      checkQuery(expr)
      for (const [, metric] of annotations.description.matchAll(/\b(sluice_\w+)/g))
        expect([...known.keys()]).toContain(metric)
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  })

  it('are described: every metric of a scrape is in docs/monitoring.md', () => {
    const text = readFileSync(new URL('../../../../docs/monitoring.md', import.meta.url), 'utf8')
    const names = [...known.keys()].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
    expect(names.filter((name) => !text.includes(`\`${name}\``) && name !== 'up')).toEqual([])
  })

  it('know every figure that a memory store has', () => {
    const figures = Object.keys(storeHealth(memoryStore())).filter((name) => name !== 'kind')
    expect(figures).toEqual(['keys', 'maxKeys', 'bytes', 'dropped', 'shared', 'refused'])
  })
})
