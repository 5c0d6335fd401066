import type { Random } from './random.js'

/** Requests as they come to a fleet, independently of each other. */
export interface Load {
  /** How many come a second, at this time. */
  perSecond(elapsedMs: number): number
  /** The node that the next one comes to. */
  node(random: Random, nodes: number, elapsedMs: number): number
}

/** Every node gets the same share. */
export const even = (perSecond: number): Load => ({
  perSecond: () => perSecond,
  node: (random, nodes) => random.below(nodes),
})

/** The second node gets half as many requests as the first, the third a third, and so on. */
export function zipf(perSecond: number): Load {
  let shares: number[] = []
  return {
    perSecond: () => perSecond,
    node: (random, nodes) => {
      if (shares.length !== nodes) shares = zipfShares(nodes)
      const point = random.next()
      return shares.findIndex((share) => point < share)
    },
  }
}

export const allToOne = (perSecond: number): Load => ({ perSecond: () => perSecond, node: () => 0 })

/** All requests come to one node, and after so many milliseconds to the next. */
export const moving = (perSecond: number, everyMs: number): Load => ({
  perSecond: () => perSecond,
  node: (_, nodes, elapsedMs) => Math.floor(elapsedMs / everyMs) % nodes,
})

/** The first half of the nodes gets all requests, and from this time on the other half. */
export const changing = (perSecond: number, atMs: number): Load => ({
  perSecond: () => perSecond,
  node: (random, nodes, elapsedMs) => {
    const half = Math.ceil(nodes / 2)
    return elapsedMs < atMs || nodes === 1 ? random.below(half) : half + random.below(nodes - half)
  },
})

/** A second of this load, and a second of a tenth of it. */
export const onOff = (perSecond: number): Load => ({
  perSecond: (elapsedMs) => (Math.floor(elapsedMs / 1_000) % 2 === 0 ? perSecond : perSecond / 10),
  node: (random, nodes) => random.below(nodes),
})

/**
 * A moderate second after which nodes hold units, a second of silence in which the bucket fills, and half a second of a flood
 * that takes all there is. A unit that counts twice shows here.
 */
export const tide = (perSecond: number): Load => ({
  perSecond: (elapsedMs) => perSecond * [0.2, 0.2, 0.001, 0.001, 4][Math.floor(elapsedMs / 500) % 5],
  node: (random, nodes) => random.below(Math.min(nodes, 10)),
})

/** Silence, in which a bucket fills, and then a flood to all nodes for a fifth of the time. */
export const floods = (perSecond: number, everyMs: number): Load => ({
  perSecond: (elapsedMs) => (elapsedMs % everyMs < 0.8 * everyMs ? 5 : perSecond),
  node: (random, nodes) => random.below(nodes),
})

/** The sums of the first shares; the last one is 1. */
function zipfShares(nodes: number): number[] {
  const weights = Array.from({ length: nodes }, (_, i) => 1 / (i + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  return weights.map((weight, i) => {
    sum += weight / total
    return i === nodes - 1 ? 1 : sum
  })
}
