import { ceilRatio } from './ceil-ratio.js'

/**
 * Cuts time into slices: each window of `windowUs` has `slices` of them, numbered from the origin. A slice need not be a
 * whole number of microseconds. So time within a window is counted in parts of 1 / `slices` µs; a slice has exactly
 * `windowUs` parts, and every number stays whole.
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

  /** Of `count` units in the slice that is leaving the window, how many are still inside at `us`, rounded up. */
  leftOf(count: number, slice: number, us: number): number {
    const window = Math.floor(slice / this.slices)
    const elapsed = (us - window * this.windowUs) * this.slices - (slice - window * this.slices) * this.windowUs
    return ceilRatio(count, this.windowUs - elapsed, this.windowUs)
  }

  /** Microseconds from `us` until at most `wanted` of the `count` units that leave during a slice are inside. */
  untilLeftUs(count: number, slice: number, wanted: number, us: number): number {
    const parts = count <= wanted ? 0 : ceilRatio(this.windowUs, count - wanted, count)
    return this.untilUs(slice, us, parts)
  }

  /**
   * Microseconds from `us` until so many parts of a slice are over. A difference, because the time itself may be too large
   * for a float64.
   */
  untilUs(slice: number, us: number, parts = 0): number {
    const window = Math.floor(slice / this.slices)
    const sliceParts = (slice - window * this.slices) * this.windowUs
    const nowWindow = Math.floor(us / this.windowUs)
    const sinceWindowUs = us - nowWindow * this.windowUs
    return (window - nowWindow) * this.windowUs + Math.ceil((sliceParts + parts) / this.slices) - sinceWindowUs
  }
}
