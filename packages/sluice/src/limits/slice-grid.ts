import { ceilRatio } from './ceil-ratio.js'

/**
 * Time cut into slices: each window of `windowUs` holds `slices` of them, numbered from the origin. A slice need not be
 * a whole number of microseconds: within a window, time is counted in parts of 1 / `slices` µs, of which a slice has
 * exactly `windowUs`, so that every step stays in whole numbers.
 */
export class SliceGrid {
  readonly windowUs: number
  readonly slices: number

  constructor(windowUs: number, slices: number) {
    this.windowUs = windowUs
    this.slices = slices
  }

  /** The number of the slice that holds a time. */
  sliceAt(us: number): number {
    const window = Math.floor(us / this.windowUs)
    const parts = (us - window * this.windowUs) * this.slices
    return window * this.slices + Math.floor(parts / this.windowUs)
  }

  /** From a time until the first microsecond of a slice. The slice may begin later than a float64 can tell. */
  untilUs(slice: number, us: number): number {
    return this.untilPartUs(slice, 0, us)
  }

  /** What is left of `count` units of the slice that is leaving the window, rounded up: its share still inside at a time. */
  leftOf(count: number, slice: number, us: number): number {
    const window = Math.floor(slice / this.slices)
    const elapsed = (us - window * this.windowUs) * this.slices - (slice - window * this.slices) * this.windowUs
    return ceilRatio(count, this.windowUs - elapsed, this.windowUs)
  }

  /** From a time until no more than `wanted` is left of `count` units that leave during a slice. */
  untilLeftUs(count: number, slice: number, wanted: number, us: number): number {
    const parts = count <= wanted ? 0 : ceilRatio(this.windowUs, count - wanted, count)
    return this.untilPartUs(slice, parts, us)
  }

  private untilPartUs(slice: number, parts: number, us: number): number {
    const window = Math.floor(slice / this.slices)
    const sliceParts = (slice - window * this.slices) * this.windowUs
    const nowWindow = Math.floor(us / this.windowUs)
    const sinceWindowUs = us - nowWindow * this.windowUs
    return (window - nowWindow) * this.windowUs + Math.ceil((sliceParts + parts) / this.slices) - sinceWindowUs
  }
}
