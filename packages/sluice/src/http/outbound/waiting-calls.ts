import { type Clock, sleep } from '../../clock.js'

/** Calls that wait for their turn or for a retry: each until its own signal is aborted, or until all are rejected. */
export class WaitingCalls {
  readonly #clock: Clock
  readonly #waiting = new Set<AbortController>()
  #end: { readonly reason: unknown } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Whether `rejectAll` was called: then no call waits any more. */
  get isOver(): boolean {
    return this.#end !== undefined
  }

  /**
   * Counts a call as waiting until the promise of `wait` settles, or until `wait` calls `waited`. `wait` must stop when its
   * signal is aborted.
   */
  async during<Result>(
    signal: AbortSignal | undefined,
    wait: (signal: AbortSignal, waited: () => void) => Promise<Result>,
  ): Promise<Result> {
    if (signal?.aborted) throw signal.reason
    if (this.#end !== undefined) throw this.#end.reason
    // An own signal, because the caller's may outlive thousands of calls, and no listener may stay on it.
    const own = new AbortController()
    const stop = () => own.abort(signal?.reason)
    const waited = () => {
      signal?.removeEventListener('abort', stop)
      this.#waiting.delete(own)
    }
    this.#waiting.add(own)
    signal?.addEventListener('abort', stop)
    try {
      return await wait(own.signal, waited)
    } finally {
      waited()
    }
  }

  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.during(signal, (stopped) => sleep(this.#clock, ms, stopped))
  }

  /** Rejects all calls that wait now or later. */
  rejectAll(reason: unknown): void {
    this.#end = { reason }
    for (const own of [...this.#waiting]) own.abort(reason)
  }
}
