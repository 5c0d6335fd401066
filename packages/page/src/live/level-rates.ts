import { COUNTS_OF_A_LEVEL, type LiveLevel } from '../../../service/src/live/live-events.js'
import { limitWords } from '../parts/limit-words.js'
import { LEVEL_COUNTS } from './frame-ring.js'
import type { PageHistory } from './page-history.js'
import { perSecond } from './time-series.js'

/** The orders of the table of levels. */
export const LEVEL_ORDERS = ['denials', 'load', 'name'] as const

export type LevelOrder = (typeof LEVEL_ORDERS)[number]

/** A level and what it does per second. */
export interface LevelRates {
  readonly level: LiveLevel
  /** Its place in the policy. */
  readonly place: number
  readonly admitted: number
  /** For a level in shadow: what it would deny. */
  readonly denied: number
  readonly degraded: number
}

/** Rates are means of so many seconds: long enough to read, short enough to see a change at once. */
const SECONDS = 10

/** The levels of the policy in its order, each with its rates. */
export function levelRates({ seconds, levels: { levels } }: PageHistory): LevelRates[] {
  const sums = new Float64Array(levels.length * COUNTS_OF_A_LEVEL)
  let elapsedMs = 0
  for (let row = Math.max(0, seconds.size - SECONDS); row < seconds.size; row++) {
    if (!seconds.hasCounts(row)) continue
    elapsedMs += seconds.total(row, 'elapsedMs')
    seconds.addCountsTo(sums, row)
  }
  const rateOf = (place: number, count: keyof typeof LEVEL_COUNTS) =>
    perSecond(sums[place * COUNTS_OF_A_LEVEL + LEVEL_COUNTS[count]], elapsedMs)
  return levels.map((level, place) => ({
    level,
    place,
    admitted: rateOf(place, 'admitted'),
    denied: rateOf(place, level.shadow ? 'deniedInShadow' : 'denied'),
    degraded: rateOf(place, 'degraded'),
  }))
}

/** The levels whose name or limits have the text, in the order that is asked for. Equal levels stay in the order of the policy. */
export function orderedLevels(rates: readonly LevelRates[], order: LevelOrder, text: string): LevelRates[] {
  const wanted = text.trim().toLowerCase()
  const has = (words: string) => words.toLowerCase().includes(wanted)
  const found = rates.filter(({ level }) => has(level.name) || level.limits.some((limit) => has(limitWords(limit))))
  return found.sort(COMPARE[order])
}

const load = ({ admitted, denied }: LevelRates) => admitted + denied
const byLoad = (a: LevelRates, b: LevelRates) => load(b) - load(a)

const COMPARE = {
  // What a level in shadow would deny harms no request: it comes after what is denied.
  denials: (a: LevelRates, b: LevelRates) => harm(b) - harm(a) || b.denied - a.denied || byLoad(a, b),
  load: byLoad,
  name: (a: LevelRates, b: LevelRates) => a.level.name.localeCompare(b.level.name, 'en', { numeric: true }),
}

function harm({ level, denied }: LevelRates): number {
  return level.shadow ? 0 : denied
}

/** The last minute of a level, a point a second: for a small drawing. */
export function lastMinute({ seconds }: PageHistory, place: number): { admitted: number[]; denied: number[] } {
  const admitted: number[] = []
  const denied: number[] = []
  for (let row = Math.max(0, seconds.size - 60); row < seconds.size; row++) {
    const elapsedMs = seconds.total(row, 'elapsedMs')
    admitted.push(perSecond(seconds.count(row, place, 'admitted'), elapsedMs))
    const refused = seconds.count(row, place, 'denied') + seconds.count(row, place, 'deniedInShadow')
    denied.push(perSecond(refused, elapsedMs))
  }
  return { admitted, denied }
}
