/** What docs/envoyproxy-ratelimit.md says. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
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
  // Those of the gRPC door come from its own part.
  const missing = named.filter((name) => !(name in SERVE_OPTIONS) && !['domain', 'policy'].includes(name))
  expect([...new Set(missing)].filter((name) => !name.startsWith('grpc') && name !== 'envoy-headers')).toEqual([])
})
