import { changeAddress } from '../shell/page-address.js'
import { LEVEL_ORDERS, type LevelOrder } from './level-rates.js'
import type { TimeRange } from './time-series.js'

/** How much time the charts show. */
export const WINDOWS = ['1m', '5m', '15m', '1h'] as const

export type Window = (typeof WINDOWS)[number]

const WINDOW_MS: Readonly<Record<Window, number>> = { '1m': 60_000, '5m': 300_000, '15m': 900_000, '1h': 3_600_000 }

/** What a person has chosen to see. It is in the address, so a link shows the same. */
export interface LiveSettings {
  readonly window: Window
  /** A part of the past in place of the window. */
  readonly zoom?: TimeRange | undefined
  readonly isPaused: boolean
  /** The name of the level that is looked at. */
  readonly level?: string | undefined
  readonly order: LevelOrder
  /** What the names or limits of levels must contain. */
  readonly filter: string
}

/** Reads the values of the address. A value that makes no sense is as if it were absent. */
export function readLiveSettings(values: Readonly<Record<string, string>>): LiveSettings {
  return {
    window: WINDOWS.find((each) => each === values.window) ?? '5m',
    zoom: readZoom(values.zoom),
    isPaused: values.paused === 'yes',
    level: values.level,
    order: LEVEL_ORDERS.find((each) => each === values.sort) ?? 'denials',
    filter: values.filter ?? '',
  }
}

function readZoom(text: string | undefined): TimeRange | undefined {
  const [, from, to] = /^(\d{1,12}(?:\.\d)?)-(\d{1,12}(?:\.\d)?)$/.exec(text ?? '') ?? []
  const range = { fromMs: Number(from) * 1_000, toMs: Number(to) * 1_000 }
  return from !== undefined && range.toMs - range.fromMs >= SHORTEST_MS ? range : undefined
}

const SHORTEST_MS = 5_000

/** The time that the charts show, if the last frame ended at `endMs`. */
export function shownRange({ zoom, window }: LiveSettings, endMs: number): TimeRange {
  return zoom ?? { fromMs: endMs - WINDOW_MS[window], toMs: endMs }
}

/** Looks at a part of the time. `undefined` goes back to the window. A part is at least five seconds long. */
export function zoomTo(range: TimeRange | undefined): void {
  if (range === undefined) {
    changeAddress({ zoom: undefined })
    return
  }
  const missing = Math.max(0, SHORTEST_MS - (range.toMs - range.fromMs)) / 2
  const text = (ms: number) => String(Math.round(ms / 100) / 10)
  changeAddress({ zoom: `${text(range.fromMs - missing)}-${text(range.toMs + missing)}` })
}

/** A range that is shorter or longer by a factor, around a time that stays where it is. */
export function scaledRange({ fromMs, toMs }: TimeRange, factor: number, aroundMs: number): TimeRange {
  const around = Math.min(toMs, Math.max(fromMs, aroundMs))
  return { fromMs: around - (around - fromMs) * factor, toMs: around + (toMs - around) * factor }
}

/** A range that is moved by a part of its length: 0.25 is a quarter later. */
export function movedRange({ fromMs, toMs }: TimeRange, part: number): TimeRange {
  const byMs = (toMs - fromMs) * part
  return { fromMs: fromMs + byMs, toMs: toMs + byMs }
}
