import { setTimeout as later } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { clientAddress } from 'sluice/http'
import { UsageError } from '../cli/command.js'
import { AdminAccess } from '../doors/admin-access.js'
import { adminDoor } from '../doors/admin-door.js'
import { checkDoor } from '../doors/check-door.js'
import { demoDoor } from '../doors/demo-door.js'
import { envoyDoor } from '../doors/envoy-door.js'
import { gateDoor } from '../doors/gate-door.js'
import { healthDoor } from '../doors/health-door.js'
import { inspectDoor } from '../doors/inspect-door.js'
import { type AboutService, aboutService, liveDoor } from '../doors/live-door.js'
import { MisspeltAttributes } from '../doors/misspelt-attributes.js'
import { openapiDoor } from '../doors/openapi-door.js'
import { ownPageOnly } from '../doors/own-page-only.js'
import { pageDoor } from '../doors/page-door.js'
import { reservationDoor } from '../doors/reservation-door.js'
import { storeDoor } from '../doors/store-door.js'
import { PolicyDecider } from '../envoy/policy-decider.js'
import type { EnvoyDecider } from '../envoy/rate-limit-request.js'
import type { Door } from '../server/door.js'
import { HttpServer } from '../server/http-server.js'
import { DecisionService } from './decision-service.js'
import { listenError } from './listen-error.js'
import type { Logger } from './log.js'
import { type OpenedStore, openStore } from './open-store.js'
import type { ServeOptions } from './serve-options.js'
import { type PolicyPlace, parseServed, policyFilePlace, rulesPlace, type ServedPolicy } from './served-policy.js'
import { type RunningGrpc, startGrpc } from './start-grpc.js'
import { StoreLog } from './store-log.js'

/** The policy that is served if no file is given. */
export const EXAMPLE_POLICY = fileURLToPath(new URL('../../examples/stripe.yaml', import.meta.url))

/** Where the policy of the options is. */
export function policyPlaceOf({ policy, envoyConfig, envoyRules }: ServeOptions): PolicyPlace {
  return envoyConfig === undefined ? policyFilePlace(policy ?? EXAMPLE_POLICY) : rulesPlace(envoyConfig, envoyRules)
}

/** How long a shutdown waits for a store that does not take back what cut requests held. */
const LONGEST_SETTLE_MS = 1_000

/** A service that listens. */
export interface RunningService {
  readonly service: DecisionService
  /** Where it listens: `http://127.0.0.1:8080`. */
  readonly url: string
  /** Where it answers over gRPC, if it does: `grpc://127.0.0.1:8081`. */
  readonly grpcUrl: string | undefined
  /** The store as a person is told. */
  readonly store: string
  /** Method and path of everything that it answers: `POST /v1/check`. */
  readonly routes: readonly string[]
  /** Stops accepting, waits for requests in flight until the deadline, and closes the store. */
  close(): Promise<void>
}

/**
 * Starts a service with a policy. Rejects with a `UsageError` if it cannot. The caller puts other policies in force by
 * `service.use`. Decides on the store of the options, unless one is given.
 */
export async function startService(
  options: ServeOptions,
  log: Logger,
  file?: ServedPolicy,
  given?: OpenedStore,
): Promise<RunningService> {
  const policy = file ?? parseServed(await policyPlaceOf(options).read())
  const opened = given ?? openStore(options.store, options, new StoreLog(log, options.onFailure ?? 'open'))
  if (typeof opened === 'string') throw new UsageError(opened)
  const service = new DecisionService(opened, policy, options.fleet)
  const { recorder } = service
  let grpc: RunningGrpc | undefined
  try {
    await opened.connected()
    // Gives back what ended while no service was there, and goes on about once a second.
    Promise.resolve(opened.store.reservations?.sweep?.()).catch(() => {})
    const misspelt = new MisspeltAttributes(log)
    const decider = deciderOf(service, options, misspelt, log)
    const doors = doorsOf(service, options, opened, log, { misspelt, decider })
    const server = new HttpServer(doors, {
      fault: (error) => log.error({ err: error }, 'a request failed'),
      answered: (door, status, ms) => recorder.doors.answered(door, status, ms),
    })
    recorder.watch(server)
    grpc = options.grpc && (await startGrpc(options.grpc, options.reusePort, service, decider, log))
    await listen(server, options)
    return {
      service,
      url: server.url,
      grpcUrl: grpc?.url,
      store: opened.shown,
      routes: doors.flatMap(({ routes }) => Object.keys(routes)),
      close: async () => {
        service.beginClosing()
        for (const door of doors) door.close?.()
        await Promise.all([server.close(options.shutdownMs), grpc?.server.close(options.shutdownMs)])
        await Promise.race([
          Promise.all(doors.map((door) => door.settled?.())),
          later(LONGEST_SETTLE_MS, undefined, { ref: false }),
        ])
        service.close()
        await opened.close()
      },
    }
  } catch (error) {
    await grpc?.server.close(0)
    service.close()
    await opened.close()
    throw error
  }
}

/** Decides for Envoy: by the rules of its service if they are what is served, otherwise by the policy. */
function deciderOf(
  service: DecisionService,
  options: ServeOptions,
  misspelt: MisspeltAttributes,
  log: Logger,
): EnvoyDecider {
  if (options.envoyConfig !== undefined) return service.rulesDecider(options.envoyHeaders, log)
  return new PolicyDecider({
    policyNow: () => service.policy,
    headers: options.envoyHeaders,
    lookAt: (attributes, asked) => misspelt.look(attributes, asked),
  })
}

/** What several doors share. */
interface DoorParts {
  readonly misspelt: MisspeltAttributes
  readonly decider: EnvoyDecider
}

function doorsOf(
  service: DecisionService,
  options: ServeOptions,
  { store, shown }: OpenedStore,
  log: Logger,
  { misspelt, decider }: DoorParts,
): readonly Door[] {
  const access = adminAccessOf(options)
  return [
    checkDoor(service, misspelt),
    reservationDoor(service, misspelt),
    gateDoor(service, options, log),
    storeDoor(store, (calls) => service.recorder.doors.batch('store', calls)),
    envoyDoor(service, decider),
    adminDoor(service, access, (change, levels) => log.info({ change, levels }, 'an operator changed limits')),
    healthDoor(service),
    openapiDoor(),
    ...(options.page ? pageDoors(service, access, aboutService(options, shown)) : []),
  ]
}

/** The page and what it asks without a token. */
function pageDoors(service: DecisionService, access: AdminAccess, about: AboutService): readonly Door[] {
  const asked = [liveDoor(service, access, about), inspectDoor(service, access), demoDoor(service)]
  return [pageDoor(), ...asked.map(ownPageOnly)]
}

function adminAccessOf({ adminToken, trustedProxies, gateAttributes }: ServeOptions): AdminAccess {
  // The field that the proxies write. In any other field a client could make up addresses, and try tokens from each.
  const forwardedIn = gateAttributes.ip ?? 'x-forwarded-for'
  return new AdminAccess(adminToken, clientAddress({ trustedProxies, forwardedIn }))
}

async function listen(server: HttpServer, { host, port, reusePort }: ServeOptions): Promise<void> {
  try {
    await server.listen(host, port, reusePort)
  } catch (error) {
    throw listenError(error, { host, port })
  }
}
