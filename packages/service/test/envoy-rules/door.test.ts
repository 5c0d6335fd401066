/** Rules behind the doors: gRPC with a client of another stack, and `/json`. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isLong } from '../../../sluice/test/property/arbitraries.js'
import { SHOULD_RATE_LIMIT } from '../../src/envoy/envoy-methods.js'
import { createLog } from '../../src/serve/log.js'
import { readServeOptions } from '../../src/serve/serve-options.js'
import { type Serving, startServing } from '../../src/serve/start-serving.js'
import { entriesOf, type ForeignResponse, fieldsOf, portOf } from '../envoy/door-service.js'
import { decodeResponse, encodeRequest } from '../envoy/envoy-protos.js'
import { GrpcClient } from '../grpc/grpc-client.js'
import { LiveClient } from '../live/live-client.js'

const RELOADS = isLong ? 1_000 : 100

let folder: string
let serving: Serving
let client: GrpcClient
let logged: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-door-'))
  logged = []
})
afterEach(async () => {
  client.close()
  await serving.close()
  await rm(folder, { recursive: true })
})

/** Writes the file as an editor does that never leaves half of one. */
async function write(yaml: string): Promise<void> {
  await writeFile(join(folder, '.next'), yaml)
  await rename(join(folder, '.next'), join(folder, 'a.yaml'))
}

async function serve(yaml: string): Promise<void> {
  await write(yaml)
  const options = readServeOptions({ http: '127.0.0.1:0', grpc: '127.0.0.1:0', 'envoy-config': folder }, {})
  serving = await startServing(options, createLog('json', { write: (line: string) => void logged.push(line) }))
  client = new GrpcClient(portOf(serving.grpcUrl))
}

async function ask(...descriptors: readonly Readonly<Record<string, string>>[]): Promise<ForeignResponse> {
  const request = { domain: 'test', descriptors: descriptors.map((entries) => ({ entries: entriesOf(entries) })) }
  return decodeResponse(await client.unary(SHOULD_RATE_LIMIT, encodeRequest(request))) as unknown as ForeignResponse
}

const yamlOf = (quota: number) => `domain: test
descriptors:
  - key: a
    metadata: { team: web }
    rate_limit: { unit: hour, requests_per_unit: ${quota}, name: per_a }
`

test('over gRPC: status, header fields, metadata and the metrics of the original', async () => {
  await serve(yamlOf(1))
  const first = await ask({ a: 'x' })
  expect(first).toMatchObject({
    overallCode: 'OK',
    statuses: [{ code: 'OK', currentLimit: { requestsPerUnit: 1, unit: 'HOUR', name: 'per_a' } }],
  })
  expect(fieldsOf(first).RateLimit).toMatch(/^"test.a";r=0;t=\d+$/)
  expect((await ask({ a: 'x' }, { b: 'y' })).overallCode).toBe('OVER_LIMIT')
  const text = await (await fetch(`${serving.url}/metrics`)).text()
  expect(text).toContain('ratelimit_service_rate_limit_over_limit{domain="test",key1="a"} 1\n')
  expect(text).toContain('ratelimit_service_config_load_success 1\n')
  expect(text).toContain('ratelimit_service_total_requests{grpc_method="ShouldRateLimit"} 2\n')
  expect(text).toContain('ratelimit_service_response_time_seconds_count{grpc_method="ShouldRateLimit"} 2\n')
  expect(text).toContain('ratelimit_service_should_rate_limit_error{err_type="service_error"} 0\n')
  expect(text).toMatch(/sluice_level_decisions_total\{policy="envoy",level="test\.a",outcome="allowed"\} 1/)
})

test('as JSON, with the status of the answer', async () => {
  await serve(yamlOf(1))
  const body = JSON.stringify({ domain: 'test', descriptors: [{ entries: [{ key: 'a', value: 'x' }] }] })
  const post = () => fetch(`${serving.url}/json`, { method: 'POST', body })
  const first = await post()
  expect(first.status).toBe(200)
  expect(await first.json()).toMatchObject({
    overallCode: 'OK',
    dynamicMetadata: { domain: 'test', descriptors: [{ entries: ['a=x'], metadata: { team: 'web' } }] },
  })
  expect((await post()).status).toBe(429)
  expect((await fetch(`${serving.url}/json`, { method: 'POST', body: '{"domain":""}' })).status).toBe(400)
})

test('a byte that is not UTF-8 does not pass the limits', async () => {
  await serve(yamlOf(1))
  const request = encodeRequest({ domain: 'test', descriptors: [{ entries: entriesOf({ a: 'x\u007f' }) }] })
  const bytes = Buffer.from(request)
  bytes[bytes.indexOf(0x7f)] = 0xff
  const ask = async () => decodeResponse(await client.unary(SHOULD_RATE_LIMIT, bytes)) as unknown as ForeignResponse
  expect((await ask()).overallCode).toBe('OK')
  expect((await ask()).overallCode).toBe('OVER_LIMIT')
})

test('the log warns of a rule of which clients look first and count later, and its level is that of a warning', async () => {
  await serve(yamlOf(5))
  const askFor = (hits: number) =>
    client.unary(
      SHOULD_RATE_LIMIT,
      encodeRequest({ domain: 'test', descriptors: [{ entries: entriesOf({ a: 'x' }), hitsAddend: { value: hits } }] }),
    )
  await askFor(0)
  await askFor(6)
  const line = logged.find((each) => each.includes('count_over_limit')) ?? ''
  expect(line.match(/"level":/g)).toHaveLength(1)
  expect(JSON.parse(line)).toMatchObject({ level: 40, rule: 'test.a' })
})

test('the page does not take rules for the example policy', async () => {
  await serve(yamlOf(1))
  const stream = (await LiveClient.open(serving.url)).read()
  expect((await stream.next('hello')).service.isExample).toBe(false)
})

test(`${RELOADS} reloads, half of them bad, while calls come in: no call fails, and none sees a bad file`, async () => {
  await serve(yamlOf(1_000_000))
  let isOver = false
  const seen = new Set<number>()
  const load = async () => {
    for (let i = 0; !isOver; i++) {
      const { overallCode, statuses } = await ask({ a: `${i % 100}` })
      expect(overallCode).toBe('OK')
      const { requestsPerUnit } = statuses[0].currentLimit as { requestsPerUnit: number }
      seen.add(requestsPerUnit)
    }
  }
  const loads = [load(), load(), load()]
  for (let i = 1; i <= RELOADS / 2; i++) {
    await write(yamlOf(1_000_000 + i))
    await serving.reload()
    await write(`${yamlOf(7)}bad: true\n`)
    await serving.reload()
  }
  isOver = true
  await Promise.all(loads)
  expect(seen.size).toBeGreaterThan(5)
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(1_000_000)
  expect((await ask({ a: 'x' })).statuses[0].currentLimit).toMatchObject({ requestsPerUnit: 1_000_000 + RELOADS / 2 })
}, 300_000)
