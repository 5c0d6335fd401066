import { afterEach } from 'vitest'
import { SHOULD_RATE_LIMIT } from '../../src/envoy/envoy-methods.js'
import { GrpcClient } from '../grpc/grpc-client.js'
import { startTestService } from '../serve/test-service.js'
import { decodeResponse, encodeRequest, type ForeignRequest } from './envoy-protos.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** An answer as protobufjs reads it. */
export interface ForeignResponse {
  readonly overallCode: string
  readonly statuses: readonly {
    readonly code: string
    readonly currentLimit?: object
    readonly limitRemaining?: number
    readonly durationUntilReset?: { readonly seconds?: number; readonly nanos?: number }
  }[]
  readonly responseHeadersToAdd?: readonly { readonly key: string; readonly value: string }[]
  readonly rawBody?: Uint8Array
  readonly dynamicMetadata?: object
}

/** A service with the gRPC door, and a client of another stack. They are closed after the test. */
export async function startDoor(levels: readonly object[], values: Readonly<Record<string, string>> = {}) {
  const service = await startTestService(levels, { grpc: '127.0.0.1:0', ...values })
  closers.push(() => service.close())
  const client = new GrpcClient(portOf(service.grpcUrl))
  closers.push(() => client.close())
  const ask = async (request: ForeignRequest) =>
    decodeResponse(await client.unary(SHOULD_RATE_LIMIT, encodeRequest(request))) as unknown as ForeignResponse
  const failure = (request: ForeignRequest) => client.failure(SHOULD_RATE_LIMIT, encodeRequest(request))
  return { service, client, ask, failure }
}

export function portOf(url = ''): number {
  return Number(/:(\d+)$/.exec(url)?.[1])
}

/** A request with these descriptors, each of which has these entries. */
export function requestOf(...descriptors: readonly Readonly<Record<string, string>>[]): ForeignRequest {
  return { domain: 'api', descriptors: descriptors.map((entries) => ({ entries: entriesOf(entries) })) }
}

export function entriesOf(entries: Readonly<Record<string, string>>) {
  return Object.entries(entries).map(([key, value]) => ({ key, value }))
}

/** The header fields of an answer. */
export function fieldsOf({ responseHeadersToAdd = [] }: ForeignResponse): Readonly<Record<string, string>> {
  return Object.fromEntries(responseHeadersToAdd.map(({ key, value }) => [key, value]))
}
