import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const connection = Symbol('connection')

interface FollowedSocket extends Socket {
  [connection]?: Connection
}

/** A client's connection, and the newest of its requests. It tells whether a request is in flight. */
export class Connection {
  readonly socket: Socket
  /** The answer to the newest request. A client may send further requests before it has the first answer. */
  #newest: ServerResponse | undefined
  /** A request came while an earlier one was in flight. */
  #isPipelined = false

  constructor(socket: FollowedSocket) {
    this.socket = socket
    socket[connection] = this
  }

  static of(socket: Socket): Connection {
    return (socket as FollowedSocket)[connection] ?? new Connection(socket)
  }

  /** Another request has come. */
  begin(response: ServerResponse): void {
    const before = this.#newest
    if (before !== undefined && !before.writableFinished) this.#isPipelined = true
    this.#newest = response
  }

  /**
   * Tells the client that the connection ends after the newest answer. Earlier answers that are still due come before it.
   * A request that comes later takes its place.
   */
  endAfterNewest(before?: ServerResponse): void {
    if (before !== undefined && !before.headersSent) before.shouldKeepAlive = true
    if (this.#newest !== undefined && !this.#newest.headersSent) this.#newest.shouldKeepAlive = false
  }

  get newest(): ServerResponse | undefined {
    return this.#newest
  }

  /** May an answer be written to the socket itself? Not if it could come before an answer that is still due. */
  get isOpenForAnswer(): boolean {
    if (!this.socket.writable) return false
    const newest = this.#newest
    if (newest === undefined || newest.writableFinished) return true
    return !this.#isPipelined && !newest.headersSent && !newest.req.complete
  }

  /** Ends the connection if no request is in flight. One that has had no request yet ends only if `mayBeNew`. */
  endIfQuiet(mayBeNew: boolean): void {
    const isQuiet = this.#newest === undefined ? mayBeNew : this.#newest.writableFinished
    if (isQuiet) this.socket.destroySoon()
  }
}
