import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AsyncStore, SyncStore } from 'sluice'
import { storeDoor } from '../../src/doors/store-door.js'
import { createHttpServer } from '../../src/server/http-server.js'

/** Services in this process that have only the door of clients, each on a store of the test. */
export class Services {
  readonly #servers: Server[] = []
  /** Errors that are not a client's fault. */
  readonly faults: unknown[] = []

  /** Starts a service on a free port, and returns its address. */
  async start(store: SyncStore | AsyncStore): Promise<string> {
    const server = createHttpServer([storeDoor(store)], { fault: (error) => this.faults.push(error) })
    this.#servers.push(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    for (const server of this.#servers.splice(0)) {
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
    }
  }
}
