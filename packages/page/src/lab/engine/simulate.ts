import { durationUs, type Limit } from 'sluice/limits'
import { CountedKey } from './counted-key.js'
import { CurvePoints, type LevelCurve } from './level-curve.js'
import { barWidthUs, mostInWindow, windowTextOf } from './most-in-window.js'

/** Requests of one key. */
export interface Traffic {
  /** Where time 0 is, in epoch microseconds: windows begin on multiples of their length since the epoch. */
  readonly originUs: number
  /** When each request arrives, in whole microseconds since the origin, in order. */
  readonly atUs: Float64Array
  /** How long it is looked at, in microseconds. */
  readonly lengthUs: number
}

/** What one limit does with the traffic. */
export interface Run {
  readonly limit: Limit
  /** For each arrival: 1 if it was admitted. */
  readonly admitted: Uint8Array
  /** When each admitted request goes on, since the origin: at once, or at its turn in the queue of a leaky bucket. */
  readonly departsUs: Float64Array
  /** Units left. */
  readonly curve: LevelCurve
  readonly bars: Bars
  readonly totals: Totals
}

/** Counts of requests in spans of equal width. */
export interface Bars {
  readonly widthUs: number
  readonly admitted: Float64Array
  readonly denied: Float64Array
  readonly departed: Float64Array
}

export interface Totals {
  readonly arrived: number
  readonly admitted: number
  readonly denied: number
  /** The longest time that an admitted request waits for its turn. */
  readonly longestWaitMs: number
  /** The most units that go on in any interval of `windowUs`. */
  readonly mostUnits: number
  readonly windowUs: number
}

const COLUMNS = 600

/**
 * Sends the traffic to one limit. `windowUs` is the interval in which the most units are counted for limits that have no
 * window of their own.
 */
export function simulate(limit: Limit, traffic: Traffic, cost: number, windowUs: number): Run {
  const { originUs, atUs, lengthUs } = traffic
  const key = new CountedKey(limit)
  const points = new CurvePoints()
  const admitted = new Uint8Array(atUs.length)
  const departsUs = new Float64Array(atUs.length)
  const bars = emptyBars(lengthUs)
  let column = 0
  let count = 0
  let longestWaitMs = 0
  const drawUntil = (untilUs: number) => {
    for (let at = columnUs(column, lengthUs); column <= COLUMNS && at <= untilUs; at = columnUs(++column, lengthUs)) {
      points.endColumn()
      points.add(at, key.level(originUs + at))
    }
  }
  for (let i = 0; i < atUs.length; i++) {
    const at = atUs[i]
    drawUntil(at)
    const { allowed, delayMs } = key.take(originUs + at, cost)
    const left = key.level(originUs + at)
    points.add(at, allowed ? left + cost : left)
    points.add(at, left)
    addTo(allowed ? bars.admitted : bars.denied, at / bars.widthUs)
    if (!allowed) continue
    admitted[i] = 1
    departsUs[count] = at + delayMs * 1_000
    addTo(bars.departed, departsUs[count] / bars.widthUs)
    longestWaitMs = Math.max(longestWaitMs, delayMs)
    count++
  }
  drawUntil(lengthUs)
  points.endColumn()
  const departures = departsUs.subarray(0, count)
  const ownWindow = windowTextOf(limit)
  const inUs = ownWindow === undefined ? windowUs : durationUs('window', ownWindow)
  const mostUnits = mostInWindow(departures, cost, inUs)
  const totals = { arrived: atUs.length, admitted: count, denied: atUs.length - count, longestWaitMs }
  return {
    limit,
    admitted,
    departsUs: departures,
    curve: points,
    bars,
    totals: { ...totals, mostUnits, windowUs: inUs },
  }
}

function columnUs(column: number, lengthUs: number): number {
  return Math.floor((column * lengthUs) / COLUMNS)
}

function emptyBars(lengthUs: number): Bars {
  const widthUs = barWidthUs(lengthUs)
  const count = Math.floor(lengthUs / widthUs) + 1
  return {
    widthUs,
    admitted: new Float64Array(count),
    denied: new Float64Array(count),
    departed: new Float64Array(count),
  }
}

/** What departs after the end is in no bar. */
function addTo(bar: Float64Array, index: number): void {
  if (index < bar.length) bar[Math.floor(index)]++
}
