import type { NodeRequest } from './node-exchange.js'

type Socket = NodeRequest['socket']

const listeners = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls `run` when a connection closes, and returns a function that stops that. A connection has one listener, however many
 * requests wait on it. Needed besides the response's `close`: a pipelined response has no connection yet and does not close.
 */
export function onSocketClose(socket: Socket, run: () => void): () => void {
  let all = listeners.get(socket)
  if (all === undefined) {
    const fresh = new Set<() => void>()
    all = fresh
    listeners.set(socket, fresh)
    socket.once?.('close', () => {
      for (const each of [...fresh]) each()
    })
  }
  all.add(run)
  return () => all.delete(run)
}
