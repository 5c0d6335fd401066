/** The files of examples/envoy: what their rules send is decided as their policy says, and all of them send the same. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { SHOULD_RATE_LIMIT } from '../../src/envoy/envoy-methods.js'
import { parsePolicyFile } from '../../src/policy-file/parse-policy-file.js'
import { createLog } from '../../src/serve/log.js'
import { readServeOptions } from '../../src/serve/serve-options.js'
import { type RunningService, startService } from '../../src/serve/start-service.js'
import { GrpcClient } from '../grpc/grpc-client.js'
import { portOf } from './door-service.js'
import { decodeResponse, encodeRequest } from './envoy-protos.js'

const read = async (name: string) =>
  await readFile(fileURLToPath(new URL(`../../examples/envoy/${name}`, import.meta.url)), 'utf8')

interface Action {
  readonly remote_address?: object
  readonly request_headers?: {
    readonly header_name: string
    readonly descriptor_key: string
    readonly skip_if_absent?: boolean
  }
}

/** Every value under a name, however deep. */
function findAll(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [...(key === name ? [each] : []), ...findAll(each, name)])
}

let service: RunningService
let client: GrpcClient
let actions: readonly Action[]
beforeAll(async () => {
  const options = readServeOptions({ http: '127.0.0.1:0', grpc: '127.0.0.1:0' }, {})
  const file = parsePolicyFile(await read('policy.yaml'), { file: 'policy.yaml' })
  service = await startService(options, createLog('off', process.stdout), file)
  client = new GrpcClient(portOf(service.grpcUrl))
  actions = findAll(parse(await read('envoy.yaml')), 'actions')[0] as readonly Action[]
})
afterAll(async () => {
  client?.close()
  await service?.close()
})

/** What Envoy sends of a request by these rules. */
async function levelsFor(address: string, fields: Readonly<Record<string, string>>) {
  const entries = actions.flatMap(({ remote_address: remote, request_headers: field }) => {
    if (remote !== undefined) return [{ key: 'remote_address', value: address }]
    const value = fields[field?.header_name ?? '']
    if (value === undefined) expect(field?.skip_if_absent).toBe(true)
    return value === undefined ? [] : [{ key: field?.descriptor_key, value }]
  })
  const bytes = encodeRequest({ domain: 'api', descriptors: [{ entries }] } as Parameters<typeof encodeRequest>[0])
  const { responseHeadersToAdd = [] } = decodeResponse(await client.unary(SHOULD_RATE_LIMIT, bytes)) as {
    responseHeadersToAdd?: { key: string; value: string }[]
  }
  const policy = responseHeadersToAdd.find(({ key }) => key === 'RateLimit-Policy')?.value ?? ''
  return [...policy.matchAll(/"(\w+)";/g)].map(([, name]) => name)
}

test('a request has the levels that the policy has for it', async () => {
  const get = { ':method': 'GET', ':path': '/v1/users?page=2' }
  expect(await levelsFor('192.0.2.1', { ...get, 'x-account': 'acme' })).toEqual(['account'])
  expect(await levelsFor('192.0.2.1', get)).toEqual(['address'])
  const post = { ':method': 'POST', ':path': '/v1/exports', 'x-account': 'acme' }
  expect(await levelsFor('192.0.2.1', post)).toEqual(['account', 'exports'])
})

test.each(['istio.yaml', 'envoy-gateway.yaml'])(
  '%s has the same rules and the same filter as envoy.yaml',
  async (name) => {
    const [envoy, other] = [parse(await read('envoy.yaml')), parse(await read(name))]
    expect(findAll(other, 'actions')).toEqual([actions])
    const filterOf = (document: unknown) =>
      findAll(document, 'typed_config').find((each) => (each as { domain?: string }).domain === 'api') as object
    const { rate_limit_service: ours, ...settings } = filterOf(envoy) as Record<string, object>
    const { rate_limit_service: theirs, ...same } = filterOf(other) as Record<string, object>
    expect(same).toEqual(settings)
    expect(Object.keys(theirs)).toEqual(Object.keys(ours))
  },
)

test('the policy of the page is that of the example', async () => {
  const page = await readFile(fileURLToPath(new URL('../../../../docs/service-envoy.md', import.meta.url)), 'utf8')
  const [, shown] = /^```yaml\n# policy\.yaml\n(.*?)^```$/ms.exec(page) ?? []
  expect(parse(shown)).toEqual(parse(await read('policy.yaml')))
})
