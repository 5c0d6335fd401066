import { createLimiter, tokenBucket } from 'sluice'
import { SyncedStore } from 'sluice/synced'
import type { Member, Strategy, World } from './member.js'
import type { Node } from './node.js'
import { RemoteStore } from './remote-store.js'

/** Every request asks the store. */
export const central: Strategy = ({ queue, network, server, limit }, node) => {
  const store = new RemoteStore(server, network, node)
  return {
    node,
    ask: (key, admit) => {
      queue.settle()
      void store.decide([{ name: 'api', limit, key, cost: 1 }]).then(({ allowed, takenUs }) => {
        if (allowed) admit(takenUs[0])
      })
    },
  }
}

/** A node with its fixed share of the limit: capacity and refill divided by the number of nodes. Sends no message. */
export const staticSplit: Strategy = ({ queue, capacity, perSecond, nodes }, node) => {
  const share = tokenBucket({ capacity: Math.max(1, Math.floor(capacity / nodes)), refill: `${perSecond / nodes}/s` })
  const limiter = createLimiter({ limit: share, clock: node.clock })
  return {
    node,
    ask: (key, admit) => {
      if (limiter.tryAcquire(key).allowed) admit(queue.nowUs)
    },
  }
}

/** Nodes tell each other their demand this often. */
const ESTIMATE_MS = 50
/** How much the newest interval counts in the estimate. */
const NEWEST = 0.1
/** A node gossips with so many others in an interval. */
const BRANCHES = 3

/** The demand of every node, in requests a second, as all nodes know it. */
const boards = new WeakMap<World, Map<Node, number>>()

/** Estimates the demand of a node, and tells the others. Gossip is simplified: they know it one interval later. */
function shareDemand(world: World, node: Node) {
  const board = boards.get(world) ?? new Map<Node, number>()
  boards.set(world, board)
  let [asked, estimate] = [0, 0]
  const tell = () => {
    board.set(node, estimate)
    estimate += NEWEST * (asked / (ESTIMATE_MS / 1_000) - estimate)
    asked = 0
    for (let i = 0; i < BRANCHES; i++) world.network.count(node)
    world.queue.after(ESTIMATE_MS, tell)
  }
  world.queue.after(world.random.between(0, ESTIMATE_MS), tell)
  return {
    ask: () => {
      asked++
    },
    own: () => board.get(node) ?? 0,
    all: () => [...board.values()].reduce((sum, demand) => sum + demand, 0),
  }
}

/** Global random drop: each request is dropped with the probability that brings the demand of all nodes down to the limit. */
export const globalRandomDrop: Strategy = (world, node) => {
  const demand = shareDemand(world, node)
  return {
    node,
    ask: (_, admit) => {
      demand.ask()
      if (world.random.next() * demand.all() < world.perSecond) admit(world.queue.nowUs)
    },
  }
}

/**
 * Flow proportional share: a node has a bucket of its own, whose refill is the share that the node has in the demand of all.
 * Simplified: the paper weighs nodes by their flows of TCP, and here every request is a flow.
 */
export const flowProportionalShare: Strategy = (world, node) => {
  const { queue, capacity, perSecond } = world
  const demand = shareDemand(world, node)
  let [tokens, sinceUs] = [0, queue.nowUs]
  return {
    node,
    ask: (_, admit) => {
      demand.ask()
      const share = demand.own() / Math.max(1, demand.all())
      const gained = (share * perSecond * (queue.nowUs - sinceUs)) / 1e6
      tokens = Math.min(tokens + gained, Math.max(1, share * capacity))
      sinceUs = queue.nowUs
      if (tokens < 1) return
      tokens--
      admit(queue.nowUs)
    },
  }
}

/** How often a node with a synced store tells the store. */
export const SYNC_MS = 100

/** A node with a synced store: the real one, on a store behind the network. */
export const synced: Strategy = (world, node) => syncedMember(world, node, syncedStoreOf(world, node))

/** The synced store of a node. */
export function syncedStoreOf({ queue, network, server, random }: World, node: Node): SyncedStore {
  const { now, alarm } = node.clock
  // A sync awaits promises before it calls the store.
  const clock = {
    now,
    alarm: (atMs: number, ring: () => void) =>
      alarm(atMs, () => {
        queue.settle()
        ring()
      }),
  }
  const inner = new RemoteStore(server, network, node)
  return new SyncedStore(inner, { intervalMs: SYNC_MS, clock }, () => random.next())
}

/** A node that decides every request on its synced store. */
export function syncedMember({ queue, limit }: World, node: Node, store: SyncedStore): Member {
  return {
    node,
    ask: (key, admit) => {
      if (store.decideNow({ name: 'api', limit, key, cost: 1 })?.allowed === true) admit(queue.nowUs)
    },
  }
}
