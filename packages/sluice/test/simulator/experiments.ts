/**
 * The experiments of "Cloud control with distributed rate limiting" (SIGCOMM 2007) on the simulator: how exactly a fleet keeps
 * its limit, how evenly its nodes share it, how fast it follows a load that moves, and how many messages that takes.
 * `node scripts/simulate.mjs` runs them, and writes the table and the plots of docs/simulation.md.
 */

import { worstBurst } from './law.js'
import { changing, even } from './loads.js'
import { leased, type Strategy } from './member.js'
import { type History, Simulation } from './simulation.js'
import { central, flowProportionalShare, globalRandomDrop, staticSplit, synced } from './strategies.js'

const STRATEGIES: Readonly<Record<string, Strategy>> = {
  central,
  'static split': staticSplit,
  'global random drop': globalRandomDrop,
  'flow proportional share': flowProportionalShare,
  leased,
  synced,
}

/** The fleets of the second plot. */
export const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500]

const NODES = 50
const PER_SECOND = 1_000
const OVERLOAD = 1.5
const CHANGE_MS = 12_000
const END_MS = 22_000
/** Until then the bucket that was full at the start is used up. */
const WARM_MS = 4_000

/** A row of the table. Rates and spreads are shares of the limit; a mean or a peak below 0 is under the limit. */
export interface Row {
  readonly strategy: string
  readonly meanOver: number
  readonly peakOver: number
  readonly spread100Ms: number
  readonly spread1S: number
  readonly worstInterval: number
  readonly jain: number
  /** `undefined`: never. */
  readonly convergenceMs: number | undefined
  readonly messages: number
  /** How far from the limit a second is on average, also after the change. */
  readonly error: number
}

/** Each strategy under a load of one and a half times the limit, which moves to the other half of the nodes. */
export async function compare(): Promise<Row[]> {
  const rows: Row[] = []
  for (const [strategy, join] of Object.entries(STRATEGIES)) {
    const load = changing(OVERLOAD * PER_SECOND, CHANGE_MS)
    const fleet = { seed: 7, nodes: NODES, capacity: PER_SECOND, perSecond: PER_SECOND, seconds: END_MS / 1_000 }
    rows.push(rowOf(strategy, await new Simulation({ ...fleet, load, strategy: join }).run()))
  }
  return rows
}

/** Messages a decision of each strategy as the fleet grows, at 40 units and 60 requests a second for each node. */
export async function grow(sizes: readonly number[]): Promise<Record<string, number[]>> {
  const found: Record<string, number[]> = {}
  for (const [strategy, join] of Object.entries(STRATEGIES)) {
    found[strategy] = []
    for (const nodes of sizes) {
      const fleet = { seed: 7, nodes, capacity: 40 * nodes, perSecond: 40 * nodes, seconds: nodes > 100 ? 4 : 10 }
      const { asked, calls } = await new Simulation({ ...fleet, load: even(60 * nodes), strategy: join }).run()
      found[strategy].push(calls.length / sum(asked))
    }
  }
  return found
}

function rowOf(strategy: string, history: History): Row {
  const { admissions, startMs, asked, calls } = history
  const ratesOf = (binMs: number, fromMs: number, toMs: number) => {
    const bins = new Array<number>(Math.floor((toMs - fromMs) / binMs)).fill(0)
    for (const { atMs } of admissions) {
      const bin = Math.floor((atMs - startMs - fromMs) / binMs)
      if (bin >= 0 && bin < bins.length) bins[bin] += 1_000 / binMs / PER_SECOND
    }
    return bins
  }
  const seconds = ratesOf(1_000, WARM_MS, CHANGE_MS)
  return {
    strategy,
    meanOver: mean(seconds) - 1,
    peakOver: Math.max(...seconds) - 1,
    spread100Ms: deviation(ratesOf(100, WARM_MS, CHANGE_MS)),
    spread1S: deviation(seconds),
    worstInterval: worstBurst(admissions, PER_SECOND) / PER_SECOND,
    jain: jain(history),
    convergenceMs: convergenceMs(ratesOf(100, CHANGE_MS, END_MS)),
    messages: calls.length / sum(asked),
    error: mean(ratesOf(1_000, WARM_MS, END_MS).map((rate) => Math.abs(rate - 1))),
  }
}

/** Jain's index of what the nodes of the first half were given before the change: 1 if all got the same. */
function jain({ admissions, startMs }: History): number {
  const given = new Array<number>(NODES / 2).fill(0)
  for (const { atMs, node } of admissions) if (node < given.length && atMs - startMs < CHANGE_MS) given[node]++
  return sum(given) ** 2 / (given.length * sum(given.map((each) => each ** 2)))
}

/**
 * From when on every second of the fleet is within a tenth of the limit, to the end, by rates of 100 ms. To the end, because
 * full buckets of nodes that were idle hide for a second that a strategy does not follow.
 */
function convergenceMs(rates: readonly number[]): number | undefined {
  const seconds = rates.slice(9).map((_, i) => mean(rates.slice(i, i + 10)))
  const last = seconds.findLastIndex((rate) => Math.abs(rate - 1) > 0.1)
  return last === seconds.length - 1 ? undefined : (last + 1) * 100
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length
}

function deviation(values: readonly number[]): number {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}
