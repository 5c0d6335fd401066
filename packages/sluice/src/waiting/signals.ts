/** Those who give up when a signal is aborted, and the one listener for all of them. */
interface Watch<W> {
  readonly waiting: Set<W>
  readonly listener: () => void
}

/**
 * Tells those who wait that their signal was aborted. A signal gets one listener however many wait by it, as a whole
 * program may by the one for its end: a signal looks at all of its listeners whenever one more is added.
 */
export class Signals<W> {
  readonly #onAbort: (waiting: W) => void
  readonly #watches = new Map<AbortSignal, Watch<W>>()

  constructor(onAbort: (waiting: W) => void) {
    this.#onAbort = onAbort
  }

  /** How many signals are listened to. */
  get size(): number {
    return this.#watches.size
  }

  watch(signal: AbortSignal, waiting: W): void {
    let watch = this.#watches.get(signal)
    if (watch === undefined) {
      watch = { waiting: new Set(), listener: () => this.#aborted(signal) }
      this.#watches.set(signal, watch)
      signal.addEventListener('abort', watch.listener, { once: true })
    }
    watch.waiting.add(waiting)
  }

  unwatch(signal: AbortSignal, waiting: W): void {
    const watch = this.#watches.get(signal)
    if (!watch?.waiting.delete(waiting) || watch.waiting.size > 0) return
    this.#watches.delete(signal)
    signal.removeEventListener('abort', watch.listener)
  }

  #aborted(signal: AbortSignal): void {
    const watch = this.#watches.get(signal)
    this.#watches.delete(signal)
    for (const waiting of watch?.waiting ?? []) this.#onAbort(waiting)
  }
}
