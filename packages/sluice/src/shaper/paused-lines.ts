import type { Line, Waiter } from './line.js'

/** Who came in a pause of a key, in that order, and the lines that they are in. */
interface Arrivals<L> {
  readonly lines: Set<L>
  waiters: Waiter[]
}

/** So many who came and went are not worth forgetting. */
const FEW = 64

/**
 * Those who come while a key is paused. Each cost of a key has a line of its own, and when the pause is over the lines are to
 * be asked for in the order in which they were joined.
 */
export class PausedLines<L extends Line> {
  readonly #arrivals = new Map<string, Arrivals<L>>()

  /** Somebody has joined a line of a key. */
  joined(key: string, line: L, waiter: Waiter): void {
    const arrivals = this.#arrivals.get(key) ?? { lines: new Set(), waiters: [] }
    this.#arrivals.set(key, arrivals)
    arrivals.lines.add(line)
    arrivals.waiters.push(waiter)
    if (arrivals.waiters.length > FEW + 2 * sum(arrivals.lines, ({ size }) => size))
      arrivals.waiters = arrivals.waiters.filter(isWaiting)
  }

  /** How many units wait in all lines of a key, and in `line`, which may not be among them. */
  waiting(key: string, line: L): number {
    const lines = this.#arrivals.get(key)?.lines
    const units = sum(lines ?? [], ({ waiting }) => waiting)
    return lines?.has(line) === true ? units : units + line.waiting
  }

  /** A line of a key is empty. */
  dropped(key: string, line: L): void {
    const lines = this.#arrivals.get(key)?.lines
    if (lines?.delete(line) === true && lines.size === 0) this.#arrivals.delete(key)
  }

  /** The lines of those who came in a pause of a key and still wait, in that order. They are forgotten. */
  take(key: string): readonly L[] {
    const waiters = this.#arrivals.get(key)?.waiters ?? []
    this.#arrivals.delete(key)
    return waiters.filter(isWaiting).map(({ line }) => line as L)
  }
}

function isWaiting({ place }: Waiter): boolean {
  return place >= 0
}

function sum<T>(values: Iterable<T>, of: (value: T) => number): number {
  let total = 0
  for (const value of values) total += of(value)
  return total
}
