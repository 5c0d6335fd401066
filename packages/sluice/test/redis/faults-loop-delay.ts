const EVERY_MS = 5
/** A timer is always a little late. */
const USUAL_MS = 1.5

/** Measures how long this process's event loop kept others waiting: the tests' own work, or a machine that is busy. */
export class LoopDelay {
  #lateMs = 0
  #dueMs = 0
  #timer: NodeJS.Timeout | undefined

  start(): this {
    this.#dueMs = performance.now() + EVERY_MS
    this.#timer = setTimeout(() => {
      const lateMs = performance.now() - this.#dueMs
      if (lateMs > USUAL_MS) this.#lateMs += lateMs
      this.start()
    }, EVERY_MS)
    return this
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** All delays so far, the one that is going on included. */
  totalMs(): number {
    return this.#lateMs + Math.max(0, performance.now() - this.#dueMs)
  }
}
