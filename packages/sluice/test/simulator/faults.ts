import type { Simulation } from './simulation.js'

/** How often things go wrong: the mean time between two faults of a kind, in milliseconds. */
export interface Faults {
  readonly nodeDiesMs: number
  /** A third of the nodes stand still for a while, as processes do on a machine that is too busy. */
  readonly holdUpMs: number
  /** A third of the nodes cannot reach the store for a while. */
  readonly partitionMs: number
  readonly storeDiesMs: number
  /** What the store has after it died: all, all but what was written since the last copy, or nothing. */
  readonly storeKeeps: 'all' | 'a copy' | 'nothing'
}

export const NO_FAULTS: Faults = {
  nodeDiesMs: Infinity,
  holdUpMs: Infinity,
  partitionMs: Infinity,
  storeDiesMs: Infinity,
  storeKeeps: 'all',
}

/** A replica of the store is at most so old. */
const COPY_MS = 200
const LONGEST_PARTITION_MS = 3_000
const LONGEST_HOLD_UP_MS = 3_000
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
  const someNodes = () => simulation.members.map(({ node }) => node).filter(() => random.chance(1 / 3))
  const forA = (longestMs: number, end: () => void) => queue.after(random.between(0, longestMs), end)

  repeat(faults.nodeDiesMs, () => simulation.replace(random.below(simulation.members.length)))
  repeat(faults.holdUpMs, () => {
    const nodes = someNodes()
    for (const node of nodes) node.holdUp()
    forA(LONGEST_HOLD_UP_MS, () => {
      queue.settle()
      for (const node of nodes) node.goOn()
    })
  })
  repeat(faults.partitionMs, () => {
    const nodes = someNodes()
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
