/** What docs/envoyproxy-ratelimit.md says. */
import { readFileSync } from 'node:fs'
import { PrometheusText } from 'sluice/metrics'
import { expect, test } from 'vitest'
import { RuleCounts } from '../../src/envoy-rules/rule-counts.js'
import { DoorCounts } from '../../src/recorder/door-counts.js'
import { writeEnvoyCalls } from '../../src/recorder/write-envoy-calls.js'
import { SERVE_OPTIONS } from '../../src/serve/serve-options.js'
import { rulesHere } from './rules-here.js'

const page = readFileSync(new URL('../../../../docs/envoyproxy-ratelimit.md', import.meta.url), 'utf8')

test('the example of what rules can say besides is good, and each of its rules decides', () => {
  const [, yaml] = /```yaml\n(domain: edge\n[^`]*)```/.exec(page) ?? []
  const { ask, file } = rulesHere(yaml, 'edge')
  expect(file.warnings).toEqual([])
  expect(ask('remote_address=192.0.2.1').statuses[0]).toMatchObject({ limitRemaining: 19 })
  expect(ask('remote_address=10.1.2.3').statuses[0]).toMatchObject({ limitRemaining: 4_294_967_295 })
  expect(ask('api_key=x').codes).toEqual(['OK 9'])
  expect(ask('path=/v1/charges').codes).toEqual(['OK 599'])
})

test('every option that the page names exists', () => {
  const named = [...page.matchAll(/`?--([a-z][a-z-]*)/g)].map(([, name]) => name).filter((name) => name !== 'envoy-')
  const missing = named.filter((name) => !(name in SERVE_OPTIONS) && !['domain', 'policy'].includes(name))
  expect([...new Set(missing)]).toEqual([])
})

test('every metric that the page names is written, and no other of those names', () => {
  const text = new PrometheusText()
  new RuleCounts().write(text)
  writeEnvoyCalls(text, new DoorCounts().read('envoy'), { loaded: 0, refused: 0 })
  const written = [...text.toString().matchAll(/# TYPE (\w+)/g)].map(([, name]) => name).sort()
  const [, rows = ''] = /## Metrics\n([\s\S]*?)\n## Envoy/.exec(page) ?? []
  const named = [...rows.matchAll(/`(ratelimit_service_\w+)`/g)].map(([, name]) => name)
  expect([...named, 'ratelimit_service_config_load_error'].sort()).toEqual(written)
})
