import type { Simulation } from './simulation.js'

/** How often things go wrong: the mean time between two faults of a kind, in milliseconds. */
export interface Faults {
  readonly nodeDiesMs: number
  /** A node stands still for a while: a pause of its garbage collector, or of its machine. */
  readonly nodeIsHeldUpMs: number
  /** A third of the nodes cannot reach the store for a while. */
  readonly partitionMs: number
  readonly storeDiesMs: number
  /** What the store has after it died: all, all but what was written since the last copy, or nothing. */
  readonly storeKeeps: 'all' | 'a copy' | 'nothing'
}

export const NO_FAULTS: Faults = {
  nodeDiesMs: Infinity,
  nodeIsHeldUpMs: Infinity,
  partitionMs: Infinity,
  storeDiesMs: Infinity,
  storeKeeps: 'all',
}

/** A replica of the store is at most so old. */
const COPY_MS = 200
const LONGEST_PARTITION_MS = 1_500
const LONGEST_HOLD_UP_MS = 1_500
const LONGEST_DEATH_MS = 600

/** Has faults happen from now on. */
export function startFaults(simulation: Simulation, faults: Faults): void {
  const { queue, random, network, server } = simulation.world
  const repeat = (meanMs: number, fault: () => void) => {
    if (meanMs === Infinity) return
    queue.after(random.exponential(meanMs), () => {
      fault()
      repeat(meanMs, fault)
    })
  }
  const anyNode = () => random.below(simulation.members.length)
  const forA = (longestMs: number, end: () => void) => queue.after(random.between(0, longestMs), end)

  repeat(faults.nodeDiesMs, () => simulation.replace(anyNode()))
  repeat(faults.nodeIsHeldUpMs, () => {
    const { node } = simulation.members[anyNode()]
    node.holdUp()
    forA(LONGEST_HOLD_UP_MS, () => {
      queue.settle()
      node.goOn()
    })
  })
  repeat(faults.partitionMs, () => {
    const nodes = simulation.members.map(({ node }) => node).filter(() => random.chance(1 / 3))
    for (const node of nodes) network.cutOff(node)
    forA(LONGEST_PARTITION_MS, () => {
      for (const node of nodes) network.reconnect(node)
    })
  })
  const empty = server.snapshot()
  let copy = empty
  const copyAgain = () => {
    copy = server.snapshot()
    queue.after(COPY_MS, copyAgain)
  }
  if (faults.storeKeeps === 'a copy') copyAgain()
  repeat(faults.storeDiesMs, () => {
    if (network.isStoreDown) return
    network.isStoreDown = true
    if (faults.storeKeeps !== 'all') {
      simulation.lose()
      const restore = faults.storeKeeps === 'nothing' ? empty : copy
      restore()
    }
    forA(LONGEST_DEATH_MS, () => {
      network.isStoreDown = false
    })
  })
}
