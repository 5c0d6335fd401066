import type { TokenBucket } from 'sluice'
import { LeasedStore } from 'sluice/leased'
import type { LendingBuckets } from '../leased/lending-store.js'
import type { EventQueue } from './event-queue.js'
import type { Network } from './network.js'
import type { Node } from './node.js'
import type { Random } from './random.js'
import { RemoteStore } from './remote-store.js'

/** What the nodes of a fleet share. */
export interface World {
  readonly queue: EventQueue
  readonly network: Network
  readonly server: LendingBuckets
  readonly random: Random
  readonly limit: TokenBucket
  /** The numbers of the limit. */
  readonly capacity: number
  readonly perSecond: number
  readonly nodes: number
}

/** A node of a fleet, and how it decides. */
export interface Member {
  readonly node: Node
  /** A request comes. Calls `admit` if it is admitted, now or later, with the time at which its unit was taken. */
  ask(key: string, admit: (atUs: number) => void): void
}

/** Makes a member of the fleet on a node. */
export type Strategy = (world: World, node: Node) => Member

/** A node with a leased store: the real one, on a store behind the network. */
export const leased: Strategy = ({ queue, network, server, random, limit }, node) => {
  const inner = new RemoteStore(server, network, node)
  const store = new LeasedStore(inner, { clock: node.clock }, () => random.next())
  return {
    node,
    ask: (key, admit) => {
      const demand = { name: 'api', limit, key, cost: 1 }
      const decision = store.decideNow(demand)
      if (decision !== undefined) {
        if (decision.allowed) admit(queue.nowUs)
        return
      }
      queue.settle()
      void store.decide([demand]).then(({ allowed, decisions, takenUs }) => {
        // A unit on lease is taken when it is spent. One that the store was asked for is taken there, before its answer comes.
        if (allowed) admit(decisions[0].asOfMs === undefined ? takenUs[0] : queue.nowUs)
      })
    },
  }
}
