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

  /** The first microsecond of a slice. */
  startUs(slice: number): number {
    return this.partUs(slice, 0)
  }

  /** What is left of `count` units of the slice that is leaving the window: its share still inside at a time. */
  leftOf(count: number, slice: number, us: number): number {
    const window = Math.floor(slice / this.slices)
    const elapsed = (us - window * this.windowUs) * this.slices - (slice - window * this.slices) * this.windowUs
    return (count * (this.windowUs - elapsed)) / this.windowUs
  }

  /** The time in a slice from which no more than `wanted` is left of `count` units that leave during it. */
  leftUs(count: number, slice: number, wanted: number): number {
    return this.partUs(slice, count <= wanted ? 0 : Math.ceil((this.windowUs * (count - wanted)) / count))
  }

  private partUs(slice: number, parts: number): number {
    const window = Math.floor(slice / this.slices)
    const sliceParts = (slice - window * this.slices) * this.windowUs
    return window * this.windowUs + Math.ceil((sliceParts + parts) / this.slices)
  }
}
