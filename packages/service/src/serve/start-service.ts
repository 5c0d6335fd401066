import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { clientAddress } from 'sluice/http'
import { UsageError } from '../cli/command.js'
import { AdminAccess } from '../doors/admin-access.js'
import { adminDoor } from '../doors/admin-door.js'
import { checkDoor } from '../doors/check-door.js'
import { healthDoor } from '../doors/health-door.js'
import { openapiDoor } from '../doors/openapi-door.js'
import { loadPolicyFile } from '../policy-file/load-policy-file.js'
import type { Door } from '../server/door.js'
import { createHttpServer } from '../server/http-server.js'
import { DecisionService } from './decision-service.js'
import type { Logger } from './log.js'
import { openStore } from './open-store.js'
import type { ServeOptions } from './serve-options.js'

/** The policy that is served if no file is given. */
export const EXAMPLE_POLICY = new URL('../../examples/stripe.yaml', import.meta.url).pathname

/** A service that listens. */
export interface RunningService {
  readonly service: DecisionService
  /** Where it listens: `http://127.0.0.1:8080`. */
  readonly url: string
  /** The store as a person is told. */
  readonly store: string
  /** Method and path of everything that it answers: `POST /v1/check`. */
  readonly routes: readonly string[]
  /** Stops accepting, waits for requests in flight until the deadline, and closes the store. */
  close(): Promise<void>
}

/** Starts a service. Rejects with a `UsageError` or a `PolicyFileError` if it cannot. */
export async function startService(options: ServeOptions, log: Logger): Promise<RunningService> {
  const file = await loadPolicyFile(options.policy ?? EXAMPLE_POLICY)
  const opened = openStore(options.store, options, (error) => log.warn({ err: error }, 'the store reports an error'))
  if (typeof opened === 'string') throw new UsageError(opened)
  const service = new DecisionService(opened.store, file)
  const doors = [checkDoor(service), adminDoorOf(service, options, log), healthDoor(service), openapiDoor()]
  const server = createHttpServer(doors, {
    fault: (error) => log.error({ err: error }, 'a request failed'),
    answered: (door, status, ms) => service.recorder.doors.answered(door, status, ms),
  })
  service.recorder.watch(server)
  try {
    await listen(server, options)
  } catch (error) {
    service.close()
    opened.close()
    throw error
  }
  return {
    service,
    url: urlOf(server),
    store: opened.shown,
    routes: doors.flatMap(({ routes }) => Object.keys(routes)),
    close: async () => {
      service.isClosing = true
      for (const door of doors) door.close?.()
      await closeServer(server, options.shutdownMs)
      service.close()
      opened.close()
    },
  }
}

function adminDoorOf(service: DecisionService, { adminToken, trustedProxies }: ServeOptions, log: Logger): Door {
  const access = new AdminAccess(adminToken, clientAddress({ trustedProxies }))
  return adminDoor(service, access, (change, levels) => log.info({ change, levels }, 'an operator changed limits'))
}

async function listen(server: Server, { host, port }: ServeOptions): Promise<void> {
  server.listen({ host, port, backlog: 1024 })
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new UsageError(
        `port ${port} is taken: another process listens on it; --http ${host}:0 takes a free port`,
        1,
      )
    if (code === 'EADDRNOTAVAIL') throw new UsageError(`this machine has no address ${host}`, 1)
    if (code === 'EACCES') throw new UsageError(`port ${port} may not be used by this user; take one above 1023`, 1)
    throw error
  }
}

/** Waits until every request is answered, or until the deadline: then connections are cut. */
async function closeServer(server: Server, shutdownMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), shutdownMs)
  await closed
  clearTimeout(timer)
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
