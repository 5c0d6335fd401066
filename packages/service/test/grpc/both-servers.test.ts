import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import fc from 'fast-check'
import { createPolicy, fixedWindow, memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { afterEach, expect, it } from 'vitest'
import { RUNS } from '../../../sluice/test/property/arbitraries.js'
import { envoyMethods, SHOULD_RATE_LIMIT } from '../../src/envoy/envoy-methods.js'
import { PolicyDecider } from '../../src/envoy/policy-decider.js'
import { GRPC_STATUS } from '../../src/grpc/grpc-error.js'
import type { GrpcServerOptions } from '../../src/grpc/grpc-server.js'
import { NodeGrpcServer } from '../../src/grpc/node-grpc-server.js'
import { OwnGrpcServer } from '../../src/http2/own-grpc-server.js'
import { encodeRequest, type ForeignRequest } from '../envoy/envoy-protos.js'

const LEVELS = [
  { name: 'account', key: ['account'], limit: fixedWindow({ quota: 5, window: '1m' }) },
  { name: 'all', limit: tokenBucket({ capacity: 20, refill: '1/s' }) },
] as const

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Call {
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
}

const text = fc.constantFrom('', 'account', 'acme', 'ü', 'plan')
const request: fc.Arbitrary<ForeignRequest> = fc.record({
  domain: fc.constantFrom('api', 'api', 'api', ''),
  descriptors: fc.array(
    fc.record({
      entries: fc.array(fc.record({ key: text, value: text }), { maxLength: 2 }),
      limit: fc.option(fc.record({ requestsPerUnit: fc.nat(9), unit: fc.nat(9) }), { nil: undefined, freq: 4 }),
      hitsAddend: fc.option(fc.record({ value: fc.nat(3) }), { nil: undefined, freq: 3 }),
      isNegativeHits: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  hitsAddend: fc.nat(2),
})
const message = fc.oneof(
  { weight: 6, arbitrary: request.map(encodeRequest) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
)
const body = fc.oneof(
  { weight: 8, arbitrary: message.map((bytes) => framed(bytes)) },
  { weight: 1, arbitrary: message.map((bytes) => framed(bytes, 1)) },
  { weight: 1, arbitrary: message.map((bytes) => framed(bytes).subarray(0, -1)) },
  { weight: 1, arbitrary: message.map((bytes) => Buffer.concat([framed(bytes), framed(bytes)])) },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
)
const call: fc.Arbitrary<Call> = fc.record({
  path: fc.constantFrom(SHOULD_RATE_LIMIT, SHOULD_RATE_LIMIT, SHOULD_RATE_LIMIT, '/no.Service/Method', '/'),
  fields: fc.record(
    {
      'content-type': fc.constantFrom('application/grpc', 'application/grpc+proto', 'application/grpc;a=b'),
      'grpc-timeout': fc.constantFrom('60S', '1H', '99999999m', 'soon', '1', '123456789S'),
      'grpc-encoding': fc.constantFrom('identity', 'gzip'),
      'x-trace': fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((given) => given.trim()),
    },
    { requiredKeys: ['content-type'] },
  ),
  body,
})

it('both servers answer the same calls with the same bytes', { timeout: 300_000 }, async () => {
  const seen = new Set<unknown>()
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      const [ofNode, own] = [await serve(NodeGrpcServer), await serve(OwnGrpcServer)]
      try {
        for (const each of calls) {
          const answer = await answerTo(own.client, each)
          expect(answer).toEqual(await answerTo(ofNode.client, each))
          seen.add(answer.status)
        }
      } finally {
        await Promise.all([ofNode.close(), own.close()])
      }
    }),
    { numRuns: RUNS.numRuns / 5 },
  )
  const { ok, invalidArgument, unimplemented, internal } = GRPC_STATUS
  expect([...seen].sort()).toEqual([ok, invalidArgument, unimplemented, internal].map(String).sort())
})

/** A server whose clock stands still, and a connection to it. */
async function serve(Server: new (options: GrpcServerOptions) => NodeGrpcServer | OwnGrpcServer) {
  const store = memoryStore({ clock: new ManualClock(1_700_000_000_000) })
  const policy = createPolicy({ name: 'p', levels: LEVELS, store })
  const decider = new PolicyDecider({ policyNow: () => policy, headers: 'draft', lookAt: () => {} })
  const server = new Server({ methods: new Map(envoyMethods(decider)) })
  const client = connect(`http://127.0.0.1:${await server.listen('127.0.0.1', 0)}`)
  const close = async () => {
    client.destroy()
    await server.close(0)
  }
  await once(client, 'connect')
  return { client, close }
}

type Told = Readonly<Record<string, unknown>>

/** All that a client is told, but for the date. */
async function answerTo(client: ClientHttp2Session, { path, fields, body: sent }: Call) {
  const stream = client.request({ ':method': 'POST', ':path': path, te: 'trailers', ...fields })
  const chunks: Buffer[] = []
  let [head, trailers]: Told[] = [{}, {}]
  stream.on('response', (given) => {
    head = given
  })
  stream.on('trailers', (given) => {
    trailers = given
  })
  stream.on('data', (chunk) => chunks.push(chunk))
  stream.on('error', () => {})
  stream.end(sent)
  await once(stream, 'close')
  const { date: _, ...told } = head
  const status = trailers['grpc-status'] ?? told['grpc-status']
  return { status, told, trailers: { ...trailers }, bytes: Buffer.concat(chunks).toString('hex'), code: stream.rstCode }
}

function framed(bytes: Uint8Array, flag = 0): Buffer {
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}
