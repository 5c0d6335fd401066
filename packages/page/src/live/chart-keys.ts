import { movedRange, scaledRange } from './live-settings.js'
import type { TimeRange } from './time-series.js'

/** Where a person is in a chart. */
export interface ChartPosition {
  readonly range: TimeRange
  /** The row whose values are read. */
  readonly row: number
  readonly rows: number
  readonly hasShift: boolean
}

/** Where a key leads: to a row, or to another range. A zoom of `out` is the window. */
export type ChartMove = { readonly row: number } | { readonly zoom: TimeRange | 'out' }

/**
 * The keys of a chart. Arrows, Home and End go from value to value; plus and minus zoom around the middle; shift and an arrow move
 * by a quarter; Escape zooms out. `undefined` for other keys.
 */
export function chartKeys(key: string, at: ChartPosition): ChartMove | undefined {
  const last = Math.max(0, at.rows - 1)
  const middleMs = (at.range.fromMs + at.range.toMs) / 2
  const step = key === 'ArrowRight' ? 1 : -1
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowRight':
      if (at.hasShift) return { zoom: movedRange(at.range, step / 4) }
      return { row: Math.min(last, Math.max(0, at.row + step)) }
    case 'Home':
      return { row: 0 }
    case 'End':
      return { row: last }
    case '+':
    case '=':
      return { zoom: scaledRange(at.range, 0.5, middleMs) }
    case '-':
      return { zoom: scaledRange(at.range, 2, middleMs) }
    case 'Escape':
      return { zoom: 'out' }
    default:
      return undefined
  }
}
