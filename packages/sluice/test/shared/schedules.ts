import type { Cells } from '../../src/stores/shared/cells.js'

/** A thread: code that reads and changes cells, and returns a result. It must do the same whenever cells answer the same. */
export type ThreadCode = (cells: Cells & { increment(cell: number): void }) => unknown

/** All threads at one moment. `undefined` is the result of a thread that is not at its end. */
export interface Moment {
  readonly memory: Int32Array
  readonly results: readonly unknown[]
}

const PAUSE = Symbol('pause')

/**
 * Cells that carry out one new access for each run of a thread. A thread is run again from its beginning for every step:
 * the accesses that it has made are answered from its log, the next one is carried out, and the one after that ends the run.
 */
class SteppedCells implements Cells {
  hi = 0
  lo = 0
  readonly #memory: Int32Array
  readonly #log: number[]
  readonly #most: number
  readonly #isTorn: boolean
  #next = 0

  /** If it `isTorn`, a cell is read in two steps: the lower half and then the upper one, as in the shared memory. */
  constructor(memory: Int32Array, log: number[], steps: number, isTorn = false) {
    this.#memory = memory
    this.#log = log
    this.#most = log.length / 2 + steps
    this.#isTorn = isTorn
  }

  load(cell: number): void {
    if (this.#isTorn) {
      this.#step(() => [this.#memory[cell * 2], 0])
      this.lo = this.#log[this.#next - 2]
      this.#step(() => [this.#memory[cell * 2 + 1], 0])
      this.hi = this.#log[this.#next - 2]
      return
    }
    this.#step(() => [this.#memory[cell * 2 + 1], this.#memory[cell * 2]])
    this.hi = this.#log[this.#next - 2]
    this.lo = this.#log[this.#next - 1]
  }

  glance(cell: number): void {
    this.load(cell)
  }

  holds(cell: number, hi: number, lo: number): boolean {
    this.#step(() => [Number(this.#memory[cell * 2 + 1] === hi && this.#memory[cell * 2] === lo), 0])
    return this.#log[this.#next - 2] === 1
  }

  compareExchange(cell: number, hi: number, lo: number, newHi: number, newLo: number): boolean {
    this.#step(() => {
      const isEqual = this.#memory[cell * 2 + 1] === hi && this.#memory[cell * 2] === lo
      if (isEqual) this.#memory.set([newLo, newHi], cell * 2)
      return [Number(isEqual), 0]
    })
    return this.#log[this.#next - 2] === 1
  }

  entryHolds(cell: number, tagHi: number, tagLo: number, hi: number, lo: number): boolean {
    return this.holds(cell - 1, tagHi, tagLo) && this.holds(cell, hi, lo) && this.holds(cell - 1, tagHi, tagLo)
  }

  exchangeEntry(
    cell: number,
    tagHi: number,
    tagLo: number,
    hi: number,
    lo: number,
    newHi: number,
    newLo: number,
  ): boolean {
    if (!this.holds(cell - 1, tagHi, tagLo)) return false
    return this.compareExchange(cell, hi, lo, newHi, newLo) && this.holds(cell - 1, tagHi, tagLo)
  }

  /** Counters decide nothing, so they make no step. */
  increment(): void {}

  #step(access: () => readonly [number, number]): void {
    if (this.#next === this.#log.length) {
      if (this.#next / 2 === this.#most) throw PAUSE
      this.#log.push(...access())
    }
    this.#next += 2
  }
}

/** Runs a thread alone, from its beginning to its end. Throws if it takes more steps than that. */
export function runAlone(memory: Int32Array, code: ThreadCode, mostSteps = 200): unknown {
  try {
    return code(new SteppedCells(memory, [], mostSteps))
  } catch (error) {
    throw error === PAUSE ? new Error(`a thread has not come to its end in ${mostSteps} steps`) : error
  }
}

/**
 * Goes through every order in which threads may make their steps, and calls `check` once for every memory and results that
 * may be. A thread that ends early is a thread that makes no more steps, so every moment is also one after the death of any
 * threads. If it `isTorn`, threads read a cell in two steps. Returns how many states of memory and threads there are.
 */
export function everySchedule(
  start: Int32Array,
  threads: readonly ThreadCode[],
  check: (moment: Moment) => void,
  isTorn = false,
): number {
  interface State extends Moment {
    readonly logs: readonly (readonly number[])[]
    /** A number for each log: equal logs have equal numbers. */
    readonly logNumbers: readonly number[]
  }
  const numbers = new Map<string, number>()
  /** Short for a long text. */
  const numberOf = (text: string) => {
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  }
  const seen = new Set<string>()
  const checked = new Set<string>()
  const [logs, logNumbers, results] = [threads.map(() => []), threads.map(() => -1), threads.map(() => undefined)]
  const open: State[] = [{ memory: start, logs, logNumbers, results }]
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const { memory, logs, logNumbers, results } = state
    const memoryNumber = numberOf(memory.join())
    const id = [memoryNumber, ...logNumbers].join()
    if (seen.has(id)) continue
    seen.add(id)
    const moment = `${memoryNumber} ${results.join()}`
    if (!checked.has(moment)) check(state)
    checked.add(moment)
    for (const [i, code] of threads.entries()) {
      if (results[i] !== undefined) continue
      const nextMemory = memory.slice()
      const log = [...logs[i]]
      const result = step(code, new SteppedCells(nextMemory, log, 1, isTorn))
      const logNumber = numberOf(`${logNumbers[i]}: ${log.at(-2)} ${log.at(-1)}`)
      open.push({
        memory: nextMemory,
        logs: logs.with(i, log),
        logNumbers: logNumbers.with(i, logNumber),
        results: results.with(i, result),
      })
    }
  }
  return seen.size
}

function step(code: ThreadCode, cells: SteppedCells): unknown {
  try {
    return code(cells)
  } catch (error) {
    if (error !== PAUSE) throw error
    return undefined
  }
}
