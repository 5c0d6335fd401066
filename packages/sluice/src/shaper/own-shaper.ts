import type { Clock } from '../clock.js'
import type { QueueFullError } from '../errors.js'
import type { LeakyBucket } from '../limits/index.js'
import { Line, type Waiter } from './line.js'
import { CATCH_UP_MS, QueueShaper } from './queue-shaper.js'
import { queueFull, tooLong } from './refusals.js'
import { Schedule } from './schedule.js'
import type { Turn } from './shaper.js'
import type { Call } from './turn-options.js'

/** Slots are asked for so much early, lest a rounded time lose a fraction of a microsecond at each. */
const EARLY_US = 1

/** Times that differ by less are the same. */
const LEAST_MS = 0.001

/** What sums of fractions of milliseconds may be off by. */
const ROUNDED_MS = 1e-6

/** A line, and from when on its first may leave. */
class OwnLine extends Line {
  freeMs = 0
  /** Until when it is to be left alone. */
  heldMs = 0
  hasMadeRoom = false
}

/**
 * A shaper of one process. A leaky bucket keeps the schedule, exactly: each who leaves takes its slot from it then, at the
 * time for which the slot was meant. Those who wait have taken nothing yet, so whoever gives up leaves no gap.
 */
export class OwnShaper extends QueueShaper {
  /** By which the bucket is larger than the queue, because of what is asked for early. */
  readonly #slack: number
  readonly #schedule: Schedule

  constructor(name: string, limit: LeakyBucket, clock: Clock) {
    super(name, limit, clock)
    const { capacity, drain } = limit
    this.#slack = Math.ceil((2 * EARLY_US) / this.usPerUnit) + 1
    this.#schedule = new Schedule(name, capacity + this.#slack, drain)
  }

  protected enter(call: Call): number | Promise<Turn> {
    const { key, cost, priority, maxWaitMs, runs } = call
    if (cost > this.capacity) throw this.#fullError(Infinity, cost)
    const nowMs = this.clock.now()
    let line = this.lines.size === 0 ? undefined : (this.lines.get(key) as OwnLine | undefined)
    const pausedMs = line === undefined ? this.pauses.untilMs(key) : nowMs
    const mayLeave = line === undefined && pausedMs <= nowMs && (runs || this.mayLeaveAtOnce(nowMs))
    if (mayLeave && this.#schedule.takeAtOnce(key, nowMs, cost)) return nowMs
    const { delayMs, remaining } = this.#schedule.take(key, nowMs, 0)
    const freeMs = line?.freeMs ?? Math.max(nowMs + delayMs, pausedMs)
    const waiting = line?.waiting ?? 0
    // The level of the bucket may be between two units, and those who wait and want to are whole ones.
    if (cost > 0 && waiting + cost + this.#slack > remaining) {
      if (line !== undefined && this.#makesRoom(line, nowMs)) return this.enter(call)
      throw this.#fullError(this.#roomAfterMs(delayMs, freeMs - nowMs, waiting + cost), cost)
    }
    if (freeMs - nowMs + this.#drainMs(waiting) > maxWaitMs) {
      const waitMs = freeMs - nowMs + this.#drainMs(line?.waitingBefore(priority) ?? 0)
      if (waitMs > maxWaitMs) throw tooLong(maxWaitMs, waitMs)
    }
    if (line === undefined) {
      line = new OwnLine(key, this.capacity, (due, dueMs) => this.#depart(due as OwnLine, dueMs))
      line.freeMs = freeMs
      line.heldMs = pausedMs
      this.lines.set(key, line)
      this.agenda.set(line, freeMs)
    }
    return this.join(line, call)
  }

  protected paused(key: string, untilMs: number): void {
    const line = this.lines.get(key) as OwnLine | undefined
    if (line === undefined || line.freeMs >= untilMs) return
    line.freeMs = untilMs
    line.heldMs = untilMs
    this.agenda.set(line, untilMs)
  }

  protected givenUp(line: Line): void {
    if (line.size > 0) return
    this.agenda.drop(line)
    this.lines.delete(line.key)
  }

  protected longestWaitMs({ line, cost }: Waiter): number {
    return Math.max(0, (line as OwnLine).freeMs - this.clock.now()) + this.#drainMs(line.waiting - cost)
  }

  /**
   * Those whose time it is leave, for an alarm may be later than whoever comes. Once only until somebody else can run: what
   * they do begins then, and a caller who comes again and again would let a crowd go at its end.
   */
  #makesRoom(line: OwnLine, nowMs: number): boolean {
    if (line.hasMadeRoom || line.atMs > nowMs) return false
    line.hasMadeRoom = true
    queueMicrotask(() => {
      line.hasMadeRoom = false
    })
    this.bringUpToDate(line)
    return true
  }

  #depart(line: OwnLine, nowMs: number): void {
    const isHeldUp = line.freeMs < nowMs - CATCH_UP_MS
    for (let { first } = line; first !== undefined && line.freeMs <= nowMs; first = line.first) {
      const slotMs = Math.max(line.freeMs, nowMs - CATCH_UP_MS)
      const isScheduled = slotMs === line.freeMs && slotMs > line.heldMs
      let askedMs = isScheduled ? (Math.floor(slotMs * 1000) - EARLY_US) / 1000 : slotMs
      let answer = this.#schedule.take(line.key, askedMs, first.cost)
      if (isScheduled && answer.allowed && answer.delayMs === 0) {
        // Forgotten, because by the time of other keys the slot is over: it would leave as early as it was asked for.
        this.#schedule.forget(line.key)
        askedMs = slotMs
        answer = this.#schedule.take(line.key, askedMs, first.cost)
      }
      const { allowed, delayMs, retryAfterMs } = answer
      const atMs = askedMs + (allowed ? delayMs : retryAfterMs)
      // Compared with the slot and not with how early it was asked for: else one that is rounded would be for ever ahead.
      if (atMs > slotMs + LEAST_MS) {
        // Somebody who shares the state, because the store is full, or a rate that is rounded down.
        if (allowed) this.#schedule.takeBack(line.key, askedMs, first.cost, delayMs)
        line.freeMs = atMs
        continue
      }
      line.freeMs = atMs + this.#drainMs(first.cost)
      this.release(first, { atMs })
    }
    if (line.size > 0) {
      // As many as may go at once have gone: what fell due while they went would make them more.
      if (isHeldUp) line.freeMs = Math.max(line.freeMs, this.clock.now())
      this.agenda.set(line, line.freeMs)
    } else this.lines.delete(line.key)
  }

  #drainMs(units: number): number {
    return (units * this.usPerUnit) / 1000
  }

  /**
   * When so many units that want to wait are no more than the queue holds: if only those who have just left are in the way,
   * as soon as their slots are over, even in a pause; else after some who wait have left.
   */
  #roomAfterMs(overAfterMs: number, freeAfterMs: number, units: number): number {
    const excess = units - this.capacity
    // A difference of today's milliseconds is rounded, and what the schedule says is not.
    const isPaused = freeAfterMs - overAfterMs > LEAST_MS
    const afterMs = excess > 0 && isPaused ? Math.round(freeAfterMs * 1000) / 1000 : overAfterMs
    return Math.max(1, Math.ceil(afterMs + this.#drainMs(excess) - ROUNDED_MS))
  }

  #fullError(retryAfterMs: number, cost: number): QueueFullError {
    return queueFull(this.name, this.capacity, cost, retryAfterMs)
  }
}
