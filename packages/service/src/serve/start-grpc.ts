import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { UsageError } from '../cli/command.js'
import { envoyMethods, RATE_LIMIT_SERVICE, SHOULD_RATE_LIMIT } from '../envoy/envoy-methods.js'
import { envoyProtoFiles } from '../envoy/envoy-proto-files.js'
import type { EnvoyDecider } from '../envoy/rate-limit-request.js'
import { GRPC_STATUS } from '../grpc/grpc-error.js'
import type { GrpcServer, GrpcTls } from '../grpc/grpc-server.js'
import { HEALTH_FILE, healthMethods } from '../grpc/health-methods.js'
import { NodeGrpcServer } from '../grpc/node-grpc-server.js'
import { reflectionMethods } from '../grpc/reflection/reflection-methods.js'
import { OwnGrpcServer } from '../http2/own-grpc-server.js'
import type { DecisionService } from './decision-service.js'
import type { GrpcOptions } from './grpc-options.js'
import { listenError } from './listen-error.js'
import type { Logger } from './log.js'
import { logTlsFailures } from './log-tls-failures.js'

/** The names under which clients ask for the health of the service. */
const HEALTH_NAMES = ['ratelimit', RATE_LIMIT_SERVICE]

/** The gRPC door, which listens. */
export interface RunningGrpc {
  /** `grpc://127.0.0.1:8081`, or `grpcs://` with a certificate. */
  readonly url: string
  readonly server: GrpcServer
}

/** Starts the door for Envoy, with health checks and reflection. Rejects with a `UsageError` if it cannot. */
export async function startGrpc(
  options: GrpcOptions,
  reusePort: boolean,
  service: DecisionService,
  decider: EnvoyDecider,
  log: Logger,
): Promise<RunningGrpc> {
  const tls = await readTls(options)
  const { doors } = service.recorder
  const Transport = options.http2 === 'node' ? NodeGrpcServer : OwnGrpcServer
  const server: GrpcServer = new Transport({
    methods: new Map([
      ...envoyMethods(decider),
      ...healthMethods({
        services: HEALTH_NAMES,
        isServing: async () => (await service.readiness()).isReady,
        closing: service.closing,
      }),
      ...reflectionMethods([...envoyProtoFiles, HEALTH_FILE]),
    ]),
    ...(tls !== undefined && { tls }),
    fault: (error) => log.error({ err: error }, 'a call failed'),
    tlsFailed: logTlsFailures(log),
    answered: (path, status, ms) => {
      if (path === SHOULD_RATE_LIMIT) doors.answered('envoy', httpStatusOf(status), ms)
    },
  })
  const { host, port } = options
  let listening: number
  try {
    listening = await server.listen(host, port, reusePort)
  } catch (error) {
    throw listenError(error, { host, port, option: 'grpc' })
  }
  service.recorder.watchGrpc(server)
  const shownHost = host.includes(':') ? `[${host}]` : host
  return { server, url: `${tls === undefined ? 'grpc' : 'grpcs'}://${shownHost}:${listening}` }
}

const MISTAKES: readonly number[] = [
  GRPC_STATUS.invalidArgument,
  GRPC_STATUS.unimplemented,
  GRPC_STATUS.resourceExhausted,
]

/** The class of HTTP status that metrics count a call in; 0 if the client went away. */
function httpStatusOf(status: number): number {
  if (status === GRPC_STATUS.ok) return 200
  if (status === GRPC_STATUS.cancelled) return 0
  return MISTAKES.includes(status) ? 400 : 500
}

async function readTls({ cert, key, clientCa }: GrpcOptions): Promise<GrpcTls | undefined> {
  if (cert === undefined || key === undefined) return undefined
  const tls = {
    cert: await readPem('--grpc-cert', cert),
    key: await readPem('--grpc-key', key),
    ...(clientCa !== undefined && { clientCa: await readPem('--grpc-client-ca', clientCa) }),
  }
  try {
    createSecureContext({ cert: tls.cert, key: tls.key, ca: tls.clientCa })
  } catch (error) {
    throw new UsageError(
      `--grpc-cert and --grpc-key must be PEM files of a certificate and its key: ${(error as Error).message}`,
      1,
    )
  }
  return tls
}

async function readPem(option: string, file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8')
    if (text.includes('-----BEGIN ')) return text
  } catch (error) {
    throw new UsageError(`${option} ${file} cannot be read: ${(error as Error).message}`, 1)
  }
  throw new UsageError(`${option} ${file} is no PEM file: it has no line that begins with -----BEGIN`, 1)
}
