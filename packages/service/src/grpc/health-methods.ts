import { ProtoReader } from '../protobuf/proto-reader.js'
import { ProtoWriter } from '../protobuf/proto-writer.js'
import { GRPC_STATUS, GrpcError } from './grpc-error.js'
import type { GrpcMethod, StreamCall, StreamHandler } from './grpc-method.js'
import type { ProtoFile } from './reflection/proto-file.js'

const PACKAGE = 'grpc.health.v1'
/** Numbers of `ServingStatus`. */
const SERVING = 1
const NOT_SERVING = 2
const SERVICE_UNKNOWN = 3
/** How often those who watch are told of a change. */
const LOOK_MS = 1_000

const reader = new ProtoReader()
const writer = new ProtoWriter()

export const HEALTH_FILE: ProtoFile = {
  name: 'grpc/health/v1/health.proto',
  package: PACKAGE,
  messages: {
    HealthCheckRequest: { service: 'string 1' },
    HealthCheckResponse: { status: `.${PACKAGE}.HealthCheckResponse.ServingStatus 1` },
  },
  enums: { 'HealthCheckResponse.ServingStatus': ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] },
  services: {
    Health: {
      Check: { takes: `.${PACKAGE}.HealthCheckRequest`, gives: `.${PACKAGE}.HealthCheckResponse` },
      Watch: { takes: `.${PACKAGE}.HealthCheckRequest`, gives: `.${PACKAGE}.HealthCheckResponse`, streams: 'server' },
    },
  },
}

/** Whose health it is. */
interface Patient {
  /** The names under which clients ask for it, beside the empty one. */
  readonly services: readonly string[]
  isServing(): Promise<boolean>
  /** Aborted when it stops serving. */
  readonly closing: AbortSignal
}

/** The methods of `grpc.health.v1.Health`. A method that is asked for a service that does not exist says so. */
export function healthMethods(patient: Patient): ReadonlyMap<string, GrpcMethod> {
  const isKnown = (service: string) => service === '' || patient.services.includes(service)
  const watchers = new Watchers(patient)
  return new Map<string, GrpcMethod>([
    [
      `/${PACKAGE}.Health/Check`,
      {
        kind: 'unary',
        async answer(message) {
          const service = readService(message)
          if (!isKnown(service))
            throw new GrpcError(GRPC_STATUS.notFound, `there is no service ${service.slice(0, 200)}`)
          return statusMessage(await statusOf(patient))
        },
      },
    ],
    [`/${PACKAGE}.Health/Watch`, { kind: 'stream', open: (call) => watchers.open(call, isKnown) }],
  ])
}

/** Clients that are told when the health changes. */
class Watchers {
  readonly #patient: Patient
  /** What each was told last; `undefined` before the first time. */
  readonly #told = new Map<StreamCall, number | undefined>()
  #looks: NodeJS.Timeout | undefined

  constructor(patient: Patient) {
    this.#patient = patient
    patient.closing.addEventListener('abort', () => this.#tell(NOT_SERVING))
  }

  open(call: StreamCall, isKnown: (service: string) => boolean): StreamHandler {
    let isAsked = false
    return {
      message: (message) => {
        if (isAsked) return
        isAsked = true
        if (isKnown(readService(message))) this.#add(call)
        else call.send(statusMessage(SERVICE_UNKNOWN))
      },
      // A client that asks for nothing will not be told anything.
      clientEnded: () => {
        if (!isAsked) call.end(new GrpcError(GRPC_STATUS.unimplemented, 'the method takes one message, got none'))
      },
      closed: () => this.#remove(call),
    }
  }

  #add(call: StreamCall): void {
    this.#told.set(call, undefined)
    this.#looks ??= setInterval(() => void this.#look(), LOOK_MS).unref()
    void this.#look()
  }

  #remove(call: StreamCall): void {
    this.#told.delete(call)
    if (this.#told.size > 0) return
    clearInterval(this.#looks)
    this.#looks = undefined
  }

  async #look(): Promise<void> {
    this.#tell(await statusOf(this.#patient))
  }

  #tell(status: number): void {
    for (const [call, before] of this.#told) {
      if (before === status) continue
      this.#told.set(call, status)
      call.send(statusMessage(status))
    }
  }
}

async function statusOf({ isServing, closing }: Patient): Promise<number> {
  const isWell = await isServing()
  return isWell && !closing.aborted ? SERVING : NOT_SERVING
}

function readService(message: Uint8Array): string {
  let service = ''
  reader.begin(message)
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag === 0x0a) service = reader.text()
    else reader.skip(tag)
  }
  return service
}

function statusMessage(status: number): Uint8Array {
  writer.begin()
  writer.uint32(0x08, status)
  return writer.end()
}
