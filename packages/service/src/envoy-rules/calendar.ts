import { type FixedWindow, fixedWindow } from 'sluice'
import type { CalendarUnit } from './rule.js'

/** A week, month or year: from `startMs` to before `endMs`, in epoch milliseconds. */
export interface Period {
  /** Milliseconds until it is over. */
  readonly leftMs: number
  /** `2026-11` for a month, `2026` for a year, and the Monday for a week: `week-2026-11-16`. */
  readonly name: string
  readonly startMs: number
  readonly endMs: number
}

const DAY_MS = 86_400_000

/** The longest periods. */
const LONGEST = { week: '7d', month: '31d', year: '366d' } as const

/**
 * The limit for the counts of one period. Its window begins with the first hit of the period, so it lasts until the period is over;
 * the next period has another key.
 */
export function calendarLimit(quota: number, unit: CalendarUnit): FixedWindow {
  return fixedWindow({ quota, window: LONGEST[unit], align: 'first' })
}

/** The period that `nowMs` is in, by UTC. */
export function periodAt(unit: CalendarUnit, nowMs: number): Omit<Period, 'leftMs'> {
  const now = new Date(nowMs)
  const year = now.getUTCFullYear()
  if (unit === 'year') return { name: `${year}`, startMs: Date.UTC(year, 0), endMs: Date.UTC(year + 1, 0) }
  const month = now.getUTCMonth()
  if (unit === 'month') {
    const startMs = Date.UTC(year, month)
    return { name: new Date(startMs).toISOString().slice(0, 7), startMs, endMs: Date.UTC(year, month + 1) }
  }
  const sinceMonday = (now.getUTCDay() + 6) % 7
  const startMs = Date.UTC(year, month, now.getUTCDate() - sinceMonday)
  return { name: `week-${new Date(startMs).toISOString().slice(0, 10)}`, startMs, endMs: startMs + 7 * DAY_MS }
}

/** Remembers the present week, month and year. */
export class Calendar {
  readonly #nowMs: () => number
  readonly #periods = new Map<CalendarUnit, Omit<Period, 'leftMs'>>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  period(unit: CalendarUnit): Period {
    const nowMs = this.#nowMs()
    let period = this.#periods.get(unit)
    if (period === undefined || nowMs < period.startMs || nowMs >= period.endMs) {
      period = periodAt(unit, nowMs)
      this.#periods.set(unit, period)
    }
    return { ...period, leftMs: period.endMs - nowMs }
  }
}
