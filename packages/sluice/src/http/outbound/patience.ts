import { type Clock, setAlarm } from '../../clock.js'

/** All that wait, for their turn or to try again: each until its own signal is aborted, or until all are sent away. */
export class Patience {
  readonly #clock: Clock
  readonly #waiting = new Set<AbortController>()
  #end: { readonly reason: unknown } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size
  }

  /** Nobody waits any more. */
  get isOver(): boolean {
    return this.#end !== undefined
  }

  /** Waits as `wait` does, which is told when to stop, and tells when it has waited enough. */
  async during<Result>(
    signal: AbortSignal | undefined,
    wait: (signal: AbortSignal, waited: () => void) => Promise<Result>,
  ): Promise<Result> {
    if (signal?.aborted) throw signal.reason
    if (this.#end !== undefined) throw this.#end.reason
    // One of its own, because a caller's signal may outlive thousands of calls, and none must leave anything on it.
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

  /** Resolves after so long. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.during(
      signal,
      (stopped) =>
        new Promise((resolve, reject) => {
          const cancel = setAlarm(this.#clock, this.#clock.now() + ms, resolve)
          stopped.addEventListener('abort', () => {
            cancel()
            reject(stopped.reason)
          })
        }),
    )
  }

  /** Rejects all that wait, and whoever would from now on. */
  sendAway(reason: unknown): void {
    this.#end = { reason }
    for (const own of [...this.#waiting]) own.abort(reason)
  }
}
