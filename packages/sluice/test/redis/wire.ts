import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on this machine, over which a test decides what becomes of what is said. */
export interface Wire {
  readonly port: number
  /** Both ends of every connection that is open. */
  readonly sockets: ReadonlySet<Socket>
  stop(): Promise<void>
}

/** `join` carries what is said from the near end of a new connection, the client's, to the far end, and back. */
export async function wireTo(port: number, join: (near: Socket, far: Socket) => void): Promise<Wire> {
  const sockets = new Set<Socket>()
  const listener = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    for (const end of [near, far]) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => sockets.delete(end))
    }
    join(near, far)
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    sockets,
    async stop() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}

/** When one end closes, so does the other. */
export function endTogether(near: Socket, far: Socket): void {
  near.on('close', () => far.destroy())
  far.on('close', () => near.destroy())
}
