import type { AsyncStore, SyncStore } from 'sluice'
import { storeDoor } from '../../src/doors/store-door.js'
import { HttpServer } from '../../src/server/http-server.js'

/** Services in this process that have only the door of clients, each on a store of the test. */
export class Services {
  readonly #servers: HttpServer[] = []
  /** Errors that are not a client's fault. */
  readonly faults: unknown[] = []
  /** How many calls each request had. */
  readonly batches: number[] = []

  /** Starts a service on a free port, and returns its address. */
  async start(store: SyncStore | AsyncStore): Promise<string> {
    const door = storeDoor(store, (calls) => this.batches.push(calls))
    const server = new HttpServer([door], { fault: (error) => this.faults.push(error) })
    this.#servers.push(server)
    await server.listen('127.0.0.1', 0)
    return server.url
  }

  async stop(): Promise<void> {
    for (const server of this.#servers.splice(0)) await server.close(0)
  }
}
