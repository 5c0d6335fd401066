/** `sluice serve --grpc` as a process: where it listens, certificates, health, reload and shutdown. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { credentials, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SHOULD_RATE_LIMIT } from '../../src/envoy/envoy-methods.js'
import { AUTHORITY, CLIENT_CERTIFICATE, CLIENT_KEY, SERVER_CERTIFICATE, SERVER_KEY } from '../grpc/certificates.js'
import { GrpcClient, until } from '../grpc/grpc-client.js'
import { makeCertificate } from '../http2/make-certificate.js'
import { ServeProcess } from '../serve/serve-process.js'
import { portOf, requestOf } from './door-service.js'
import { decodeResponse, encodeRequest } from './envoy-protos.js'

const SERVES = [0x08, 1]
const TURNED_AWAY = 'a client of gRPC was turned away: TLS with it fails'
const WATCH = '/grpc.health.v1.Health/Watch'

let folder: string
let policy: string
const file = (name: string) => join(folder, name)
const policyOf = (quota: number) =>
  JSON.stringify({
    version: 1,
    levels: [{ name: 'user', key: 'user', limit: { algorithm: 'fixed-window', quota, window: '1d' } }],
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-grpc-'))
  policy = file('policy.json')
  await writeFile(policy, policyOf(3))
  await writeFile(file('cert.pem'), SERVER_CERTIFICATE)
  await writeFile(file('key.pem'), SERVER_KEY)
  await writeFile(file('other-key.pem'), CLIENT_KEY)
  await writeFile(file('ca.pem'), AUTHORITY)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const start = (...more: string[]) => ServeProcess.start(['--policy', policy, '--grpc', '127.0.0.1:0', ...more])

function grpcUrlOf({ lines }: ServeProcess): string {
  return String(lines.find(({ msg }) => msg === 'the service listens')?.grpc)
}

async function ask(client: GrpcClient, user: string) {
  const answer = await client.unary(SHOULD_RATE_LIMIT, encodeRequest(requestOf({ user })))
  return decodeResponse(answer) as { overallCode: string; statuses: { currentLimit: { requestsPerUnit: number } }[] }
}

test('it says where it listens, answers, and follows the policy file', async () => {
  await using running = await start()
  const url = grpcUrlOf(running)
  expect(url).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+$/)
  expect(running.stderr).toContain(`envoy    ${url}\n`)
  const client = new GrpcClient(portOf(url))
  try {
    expect((await ask(client, 'ann')).statuses[0].currentLimit.requestsPerUnit).toBe(3)
    await writeFile(policy, policyOf(8))
    running.child.kill('SIGHUP')
    await running.says('another policy is in force')
    expect((await ask(client, 'ann')).statuses[0].currentLimit.requestsPerUnit).toBe(8)
  } finally {
    client.close()
    await writeFile(policy, policyOf(3))
  }
})

test.each(['own', 'node'])(
  'with certificates, only clients of the authority are answered, and the log says why others are not: %s',
  async (http2) => {
    const args = [
      '--http2',
      http2,
      '--grpc-cert',
      file('cert.pem'),
      '--grpc-key',
      file('key.pem'),
      '--grpc-client-ca',
      file('ca.pem'),
    ]
    await using running = await start(...args)
    const url = grpcUrlOf(running)
    expect(running.stderr).toContain(`envoy    ${url}, for clients with a certificate`)
    expect(url).toMatch(/^grpcs:/)
    const ca = Buffer.from(AUTHORITY)
    const known = credentials.createSsl(ca, Buffer.from(CLIENT_KEY), Buffer.from(CLIENT_CERTIFICATE))
    const client = new GrpcClient(portOf(url), { credentials: known, host: 'localhost' })
    const own = makeCertificate('unknown')
    const self = credentials.createSsl(ca, Buffer.from(own.key), Buffer.from(own.cert))
    const unknown = new GrpcClient(portOf(url), { credentials: self, host: 'localhost' })
    const stranger = new GrpcClient(portOf(url), { credentials: credentials.createSsl(ca), host: 'localhost' })
    try {
      expect((await ask(client, 'ann')).overallCode).toBe('OK')
      const message = encodeRequest(requestOf({ user: 'ann' }))
      expect((await stranger.failure(SHOULD_RATE_LIMIT, message, { timeoutMs: 5_000 }))[0]).toBe(status.UNAVAILABLE)
      await unknown.failure(SHOULD_RATE_LIMIT, message, { timeoutMs: 5_000 })
      const reasons = () => running.lines.filter(({ msg }) => msg === TURNED_AWAY).map(({ reason }) => reason)
      const expected = ['ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', 'DEPTH_ZERO_SELF_SIGNED_CERT']
      await expect.poll(reasons, { timeout: 10_000 }).toEqual(expect.arrayContaining(expected))
    } finally {
      client.close()
      unknown.close()
      stranger.close()
    }
  },
)

test.each([
  [
    'a key of another certificate',
    'cert.pem',
    'other-key.pem',
    '--grpc-cert and --grpc-key must be PEM files of a certificate',
  ],
  ['a file that is no certificate', 'policy.json', 'key.pem', 'policy.json is no PEM file'],
])('%s: exit code 1', async (_name, cert, key, message) => {
  const args = ['--grpc', '127.0.0.1:0', '--grpc-cert', file(cert), '--grpc-key', file(key)]
  await using refused = new ServeProcess(['--policy', policy, ...args])
  expect(await refused.ended).toBe(1)
  expect(refused.stderr).toContain(message)
})

test('SIGTERM tells those who watch its health, and ends within the deadline although they stay', async () => {
  await using running = await start('--shutdown-ms', '3600000')
  const client = new GrpcClient(portOf(grpcUrlOf(running)))
  const watch = client.serverStream(WATCH, Buffer.from([0x0a, 9, ...Buffer.from('ratelimit')]))
  const got: number[][] = []
  let code: number | undefined
  watch.on('data', (message: Buffer) => got.push([...message]))
  watch.on('error', (error: Error & { code: number }) => {
    code = error.code
  })
  await until(() => got.length === 1)
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  await until(() => code !== undefined)
  expect([got[0], got.at(-1), code]).toEqual([SERVES, [0x08, 2], status.UNAVAILABLE])
  client.close()
})
