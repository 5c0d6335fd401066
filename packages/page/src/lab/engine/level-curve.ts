/** A curve over time as points in order. Two points may have one time: before and after a request. */
export interface LevelCurve {
  readonly atUs: number[]
  readonly level: number[]
}

/**
 * Keeps of many points those that a chart can show: of each column of the chart the first, the lowest, the highest and the
 * last. A curve through them covers the same pixels as a curve through all points.
 */
export class CurvePoints implements LevelCurve {
  readonly atUs: number[] = []
  readonly level: number[] = []
  #count = 0
  /** Of the first, lowest, highest and last point of this column: its number in the column, time and level. */
  readonly #kept = [new KeptPoint(), new KeptPoint(), new KeptPoint(), new KeptPoint()]

  add(atUs: number, level: number): void {
    const [first, lowest, highest, last] = this.#kept
    const n = this.#count++
    if (n === 0) first.set(n, atUs, level)
    if (n === 0 || level < lowest.level) lowest.set(n, atUs, level)
    if (n === 0 || level > highest.level) highest.set(n, atUs, level)
    last.set(n, atUs, level)
  }

  /** The next point begins another column. */
  endColumn(): void {
    if (this.#count === 0) return
    let before = -1
    for (const point of this.#kept.toSorted((a, b) => a.n - b.n)) {
      if (point.n === before) continue
      before = point.n
      this.atUs.push(point.atUs)
      this.level.push(point.level)
    }
    this.#count = 0
  }
}

class KeptPoint {
  n = 0
  atUs = 0
  level = 0

  set(n: number, atUs: number, level: number): void {
    this.n = n
    this.atUs = atUs
    this.level = level
  }
}
