import { hashSlotOf } from '../key-layout.js'
import type { Connection } from './script-runner.js'

interface Options {
  readonly socket?: { readonly reconnectStrategy?: unknown }
}

/** The part of a node-redis client for one server that replaces its connection. */
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

/** The client's connection or, in a cluster, that to the server of the key's hash slot. Pools and sentinels show none. */
export function nodeRedisConnections(client: object, isCluster: boolean, key: string): readonly Connection[] {
  const node = isCluster ? nodeOf(client, key) : client
  if (node === undefined || !isNode(node) || !node.isOpen) return []
  // Not a node's own options in a cluster: the cluster writes into them.
  const options = isCluster ? (client as Cluster)._options?.defaults : node.options
  // A client that does not connect again keeps its connection: a server that was only slow would be lost for good.
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
  const node = client.slots?.[hashSlotOf(key)]?.master?.client
  return typeof node === 'object' && node !== null ? node : undefined
}

/** The id of each client's connection; `undefined` from when it was dropped until the client has another. */
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
    // In one step, so that no caller sees the client closed. Calls that wait for a reply are rejected.
    if (node.destroy !== undefined) node.destroy()
    else node.disconnect?.()
    node.connect().catch(() => {})
    return
  }
  // While the client is connecting, `destroy` and `connect` would leave two attempts that disturb each other. Without its
  // socket, the attempt that hangs in the handshake fails, and the client tries again by its own strategy.
  const socket = node._ejectSocket?.()
  if (socket === undefined) return
  try {
    socket.destroySocket()
  } finally {
    node._insertSocket?.(socket)
  }
  // Before version 6.3 the attempt does not notice its socket; it notices that its commands fail.
  socket.emit('error', new Error('Redis did not answer, and its connection was dropped'))
}
