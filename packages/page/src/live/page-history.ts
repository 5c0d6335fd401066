import {
  COUNTS_OF_A_LEVEL,
  type LiveFrame,
  type LiveHello,
  type LiveLevels,
} from '../../../service/src/live/live-events.js'
import { FrameRing, type FrameTotals } from './frame-ring.js'

const SECONDS = 300
const TENS = 360
/** Spans of "ten seconds" are as long as their frames make them; timers are seldom early by more than this. */
const TEN_MS = 9_500

/**
 * What the page remembers: five minutes by the second, and an hour by ten seconds. Its memory depends on the number of levels and
 * on nothing else. After a reload a level keeps its counts if the new policy has a level of its name.
 */
export class PageHistory {
  seconds = new FrameRing(SECONDS, 0)
  tens = new FrameRing(TENS, 0)
  #levels: LiveLevels = { version: -1, policy: '', levels: [] }
  /** The seconds since the last ten. */
  #open: OpenTen = new OpenTen(0)

  /** Starts over from the first event of a stream. */
  static of({ levels, seconds, tens }: LiveHello): PageHistory {
    const history = new PageHistory()
    history.useLevels(levels)
    for (const frame of tens) history.tens.push(frame, history.#countsOf(frame))
    for (const frame of seconds) history.add(frame)
    return history
  }

  get levels(): LiveLevels {
    return this.#levels
  }

  /** How many points are kept: a point is a row of a series, whatever the number of levels. */
  get retainedPoints(): number {
    return this.seconds.size + this.tens.size
  }

  useLevels(levels: LiveLevels): void {
    const places = new Map(this.#levels.levels.map(({ name }, place) => [name, place]))
    const comesFrom = levels.levels.map(({ name }) => places.get(name) ?? -1)
    this.#levels = levels
    this.seconds = this.seconds.withLevels(comesFrom)
    this.tens = this.tens.withLevels(comesFrom)
    this.#open = this.#open.withLevels(comesFrom)
  }

  /** Adds the frame of a second. */
  add(frame: LiveFrame): void {
    const counts = this.#countsOf(frame)
    this.seconds.push(frame, counts)
    // The hour of `hello` may already have this second.
    const last = this.tens.total(this.tens.size - 1, 'atMs')
    if (frame.atMs <= last) return
    this.#open.add(frame, counts)
    if (this.#open.totals.elapsedMs < TEN_MS) return
    this.tens.push(this.#open.totals, this.#open.counts)
    this.#open = new OpenTen(this.#levels.levels.length)
  }

  /** For a pause: the copy stays as it is. */
  copy(): PageHistory {
    const copy = new PageHistory()
    copy.#levels = this.#levels
    copy.seconds = this.seconds.copy()
    copy.tens = this.tens.copy()
    return copy
  }

  #countsOf(frame: LiveFrame): readonly number[] | undefined {
    return frame.version === this.#levels.version ? frame.levels : undefined
  }
}

/** Adds up seconds. The p50 of ten seconds is the mean by decisions, the p99 and the delay are the worst. */
class OpenTen {
  readonly counts: Uint32Array
  totals: FrameTotals = { ...NOTHING }

  constructor(levels: number) {
    this.counts = new Uint32Array(levels * COUNTS_OF_A_LEVEL)
  }

  add(frame: LiveFrame, counts: readonly number[] = []): void {
    const before = this.totals
    const weight = frame.allowed + frame.denied
    const weightBefore = before.allowed + before.denied
    const sum = before.p50Ms * weightBefore + frame.p50Ms * weight
    this.totals = {
      atMs: frame.atMs,
      elapsedMs: before.elapsedMs + frame.elapsedMs,
      allowed: before.allowed + frame.allowed,
      denied: before.denied + frame.denied,
      errors: before.errors + frame.errors,
      degraded: before.degraded + frame.degraded,
      p50Ms: weight + weightBefore === 0 ? 0 : sum / (weight + weightBefore),
      p99Ms: Math.max(before.p99Ms, frame.p99Ms),
      worstDelayMs: Math.max(before.worstDelayMs, frame.worstDelayMs),
    }
    for (let at = 0; at < Math.min(counts.length, this.counts.length); at++) this.counts[at] += counts[at]
  }

  /** The same sums for another list of levels. `comesFrom` has the former place of each level, or -1. */
  withLevels(comesFrom: readonly number[]): OpenTen {
    const next = new OpenTen(comesFrom.length)
    next.totals = this.totals
    comesFrom.forEach((from, level) => {
      if (from < 0) return
      const start = from * COUNTS_OF_A_LEVEL
      next.counts.set(this.counts.subarray(start, start + COUNTS_OF_A_LEVEL), level * COUNTS_OF_A_LEVEL)
    })
    return next
  }
}

const NOTHING: FrameTotals = {
  atMs: 0,
  elapsedMs: 0,
  allowed: 0,
  denied: 0,
  errors: 0,
  degraded: 0,
  p50Ms: 0,
  p99Ms: 0,
  worstDelayMs: 0,
}
