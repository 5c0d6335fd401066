import { numberText } from '../../parts/number-text.js'
import type { Run } from '../engine/simulate.js'
import { markTime } from './mark-time.js'

/** What the charts of a limit show at a time, in words. */
export interface CursorWords {
  readonly time: string
  readonly requests: string
  readonly level: string
}

/** Words for the bar and for the point of the curve at a time, in seconds since the start. */
export function cursorWords(run: Run, lengthUs: number, seconds: number): CursorWords {
  const us = Math.max(0, seconds * 1e6)
  const { admitted, denied, departed, widthUs } = run.bars
  const bar = Math.min(admitted.length - 1, Math.floor(us / widthUs))
  const leaves =
    run.limit.algorithm === 'leaky-bucket'
      ? `, ${numberText(departed[bar])} ${departed[bar] === 1 ? 'leaves' : 'leave'}`
      : ''
  return {
    time: markTime(rounded(seconds, lengthUs / 1e6), lengthUs / 1e6),
    requests: `${numberText(admitted[bar])} allowed, ${numberText(denied[bar])} denied${leaves}`,
    level: levelWords(run, us),
  }
}

/** `12.5 of 20 tokens left`, or the queue of a leaky bucket. */
function levelWords({ limit, curve }: Run, us: number): string {
  const left = levelAt(curve.atUs, curve.level, us, 'window' in limit)
  if (limit.algorithm === 'leaky-bucket')
    return `${numberText(limit.capacity - left)} of ${numberText(limit.capacity)} in the queue`
  const most = 'capacity' in limit ? limit.capacity : 'quota' in limit ? limit.quota : Infinity
  return `${numberText(left)} of ${numberText(most)} left`
}

/** The curve between its points: a straight line for buckets, the last point for windows. */
function levelAt(atUs: readonly number[], level: readonly number[], us: number, isStep: boolean): number {
  let low = 0
  let high = atUs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (atUs[middle] <= us) low = middle + 1
    else high = middle
  }
  const last = Math.max(0, low - 1)
  const next = Math.min(low, atUs.length - 1)
  const gap = atUs[next] - atUs[last]
  if (isStep || gap <= 0) return level[last]
  return level[last] + ((us - atUs[last]) / gap) * (level[next] - level[last])
}

/** To about a pixel of a chart. */
function rounded(seconds: number, span: number): number {
  const step = 10 ** Math.floor(Math.log10(span / 200))
  return Number((Math.round(seconds / step) * step).toFixed(6))
}
