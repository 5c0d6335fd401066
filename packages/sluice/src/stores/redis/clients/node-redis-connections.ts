import { hashSlotOf } from '../key-layout.js'
import type { Connection } from './script-runner.js'

interface Options {
  readonly socket?: { readonly reconnectStrategy?: unknown }
}

/** What is used of a node-redis client for one server to replace its connection. */
interface Node {
  readonly isOpen: boolean
  readonly isReady: boolean
  readonly options?: Options
  on(event: 'connect', listener: () => void): unknown
  connect(): Promise<unknown>
  /** Before version 5: `disconnect`. */
  destroy?(): unknown
  disconnect?(): unknown
  /** From version 5.9 on. */
  _ejectSocket?(): Socket
  _insertSocket?(socket: Socket): void
}

interface Socket {
  destroySocket(): void
  emit(event: 'error', error: Error): unknown
}

interface Cluster {
  readonly _options?: { readonly defaults?: Options }
  readonly slots?: readonly { readonly master?: { readonly client?: unknown } }[]
}

/** The connection of a client, or the one to the server of a key's slot. A pool or a sentinel does not show any. */
export function nodeRedisConnections(client: object, isCluster: boolean, key: string): readonly Connection[] {
  const node = isCluster ? nodeOf(client, key) : client
  if (node === undefined || !isNode(node) || !node.isOpen) return []
  // Not a node's own options in a cluster: the cluster writes into them.
  const options = isCluster ? (client as Cluster)._options?.defaults : node.options
  // One that does not connect again is left as it is: a server that was only slow would be lost for good.
  if (options?.socket?.reconnectStrategy === false) return []
  if (!node.isReady && node._ejectSocket === undefined) return []
  const id = idOf(node)
  return id === undefined ? [] : [{ id, isReady: node.isReady, bytesRead: 0, drop: () => drop(node) }]
}

function isNode(client: object): client is Node {
  const { isReady, execute, acquire } = client as { isReady?: unknown; execute?: unknown; acquire?: unknown }
  return typeof isReady === 'boolean' && execute === undefined && acquire === undefined
}

function nodeOf(client: Cluster, key: string): object | undefined {
  const tag = key.slice(key.indexOf('{') + 1, key.indexOf('}'))
  const node = client.slots?.[hashSlotOf(tag)]?.master?.client
  return typeof node === 'object' && node !== null ? node : undefined
}

/** What stands for the connection that a client has now; `undefined` from when it was dropped until there is another. */
const ids = new WeakMap<object, object | undefined>()

/** The client does not show its socket, but says when it has a new one. */
function idOf(node: Node): object | undefined {
  if (!ids.has(node)) {
    node.on('connect', () => ids.set(node, {}))
    ids.set(node, {})
  }
  return ids.get(node)
}

function drop(node: Node): void {
  ids.set(node, undefined)
  if (node.isReady) {
    // In one go, so that it is never seen closed. All that waits for a reply is rejected.
    if (node.destroy !== undefined) node.destroy()
    else node.disconnect?.()
    node.connect().catch(() => {})
    return
  }
  // While it is connecting, `destroy` and `connect` would leave two attempts that get in each other's way. Without its
  // socket, the attempt that hangs in the handshake fails, and the next one follows by the client's own strategy.
  const socket = node._ejectSocket?.()
  if (socket === undefined) return
  try {
    socket.destroySocket()
  } finally {
    node._insertSocket?.(socket)
  }
  // Before version 6.3 the attempt does not look at its socket, but at what becomes of its commands.
  socket.emit('error', new Error('Redis did not answer, and its connection was dropped'))
}
