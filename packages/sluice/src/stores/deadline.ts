// Imported, so that a test that replaces the global timers does not stop decisions.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'

// Held for the same reason.
const { performance } = globalThis

/** A timer that is this late shows that the process was busy. Then the server gets this much more time to answer. */
const BUSY_MS = 5
const GRACE_MS = 10

/** Calls `expire` after `ms` unless it is cancelled before. Until then it keeps the process alive. */
export class Deadline {
  #timer: NodeJS.Timeout
  #isCancelled = false

  constructor(ms: number, expire: () => void) {
    const dueMs = performance.now() + ms
    // A reply may have come while the process was busy: it is read before the immediate runs.
    const end = () => setImmediate(() => this.#isCancelled || expire())
    this.#timer = setTimeout(() => {
      // A client that could not even send its call gets a moment to do so.
      if (performance.now() - dueMs > BUSY_MS) this.#timer = setTimeout(end, GRACE_MS)
      else end()
    }, ms)
  }

  cancel(): void {
    this.#isCancelled = true
    clearTimeout(this.#timer)
  }
}

/** Resolves as the promise does, or with `otherwise()` if the promise is still open after `ms`. */
export function within<T>(ms: number, promised: Promise<T>, otherwise: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const deadline = new Deadline(ms, () => resolve(otherwise()))
    promised.then(resolve, reject).finally(() => deadline.cancel())
  })
}
