import type { NodeRequest } from './node-messages.js'

type Socket = NodeRequest['socket']

const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Runs something when a connection closes, until the function that it gives is called. A connection has one listener of
 * ours, however many requests wait on it. A response to a pipelined request is not told of it: it has no connection yet.
 */
export function onSocketClose(socket: Socket, run: () => void): () => void {
  let all = waiting.get(socket)
  if (all === undefined) {
    const fresh = new Set<() => void>()
    all = fresh
    waiting.set(socket, fresh)
    socket.once?.('close', () => {
      for (const each of [...fresh]) each()
    })
  }
  all.add(run)
  return () => all.delete(run)
}
