import { slotOf } from '../slot.js'
import type { Connection } from './runner.js'

interface Options {
  readonly socket?: { readonly reconnectStrategy?: unknown }
}

/** What is used of a node-redis client for one server to replace its connection. */
interface Node {
  readonly isOpen?: boolean
  readonly isReady?: boolean
  readonly options?: Options
  on?(event: 'connect', listener: () => void): unknown
  connect?(): Promise<unknown>
  destroy?(): void
  _ejectSocket?(): Socket
  _insertSocket?(socket: Socket): void
}

interface Socket {
  destroySocket?(): void
}

interface Cluster {
  readonly _options?: { readonly defaults?: Options }
  readonly slots?: readonly { readonly master?: { readonly client?: unknown } }[]
}

/** The connection of a client, or the one to the server of a key's slot. A pool or a sentinel does not show any. */
export function nodeRedisConnections(client: object, isCluster: boolean, key: string): readonly Connection[] {
  const node = isCluster ? nodeOf(client, key) : (client as Node)
  // Not a node's own options in a cluster: the cluster writes into them.
  const options = isCluster ? (client as Cluster)._options?.defaults : node?.options
  // One that does not connect again is left as it is: a server that was only slow would be lost for good.
  const isLast = options?.socket?.reconnectStrategy === false
  if (node === undefined || node.isOpen !== true || isLast || !isSingle(node)) return []
  const { isReady } = node
  return [{ id: idOf(node), isReady, bytesRead: 0, drop: () => drop(node) }]
}

type Single = Node & Required<Pick<Node, 'isReady' | 'on' | 'connect' | 'destroy' | '_ejectSocket' | '_insertSocket'>>

function isSingle(node: Node): node is Single {
  const { isReady, on, connect, destroy, _ejectSocket, _insertSocket } = node
  return (
    [on, connect, destroy, _ejectSocket, _insertSocket].every((each) => typeof each === 'function') &&
    isReady !== undefined
  )
}

function nodeOf(client: Cluster, key: string): Node | undefined {
  const tag = key.slice(key.indexOf('{') + 1, key.indexOf('}'))
  const node = client.slots?.[slotOf(tag)]?.master?.client
  return typeof node === 'object' && node !== null ? node : undefined
}

const ids = new WeakMap<object, object>()

/** What stands for the connection that a client has now. The client does not show its socket, but says when it has a new one. */
function idOf(node: Single): object {
  let id = ids.get(node)
  if (id === undefined) {
    node.on('connect', () => ids.set(node, {}))
    id = {}
    ids.set(node, id)
  }
  return id
}

function drop(node: Single): void {
  ids.set(node, {})
  if (node.isReady) {
    // In one go, so that it is never seen closed. All that waits for a reply is rejected.
    node.destroy()
    node.connect().catch(() => {})
    return
  }
  // While it is connecting, `destroy` and `connect` would leave two attempts that get in each other's way. Without its
  // socket, the attempt that hangs in the handshake fails, and the next one follows by the client's own strategy.
  const socket = node._ejectSocket()
  try {
    socket.destroySocket?.()
  } finally {
    node._insertSocket(socket)
  }
}
