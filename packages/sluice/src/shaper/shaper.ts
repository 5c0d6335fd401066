/** Options of a turn. */
export interface TurnOptions {
  /** Names the queue to wait in. Each key leaves at the whole rate. Default: one queue for all callers without a key. */
  readonly key?: string
  /** How many units the turn takes: the next one comes cost / drain later. A safe integer from 0. Default 1. */
  readonly cost?: number
  /** When it is aborted, the caller stops waiting: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * A whole number from -9 to 9. Callers of a higher priority leave first. Default 0. No caller starves: for each step of
   * priority between them, at most `capacity` callers overtake one that waits.
   */
  readonly priority?: number
  /** Rejects after so many milliseconds, or at once if the wait is known to be longer. */
  readonly maxWaitMs?: number
}

/** A caller's turn. */
export interface Turn {
  /** The slot, in epoch milliseconds by the shaper's clock. Slots of a key are never closer than cost / drain. */
  readonly atMs: number
  /** Absent, or how the turn was given although the store did not answer. */
  readonly degraded?: 'open' | 'local'
}

/** Which callers of a shaper a pause is about. */
export interface PausedCallers {
  /** The callers of this key. Default: all callers, with and without a key. */
  readonly key?: string
}

/** A pause of a shaper. */
export interface PauseOptions extends PausedCallers {
  /** After so many milliseconds the pause ends by itself. Default: it lasts until `resume`. */
  readonly durationMs?: number
}

/** How a shaper closes. */
export interface CloseOptions {
  /** Callers that wait still leave at their turn (`'leave'`), or are rejected at once. Default `'leave'`. */
  readonly waiting?: 'leave' | 'reject'
}

/** The leaky bucket as a queue: callers wait for their turn, and leave at a constant rate. */
export interface Shaper {
  readonly name: string
  /** How many callers wait. */
  readonly size: number
  /** How many callers have left the queue and have not finished. */
  readonly pending: number
  /** Runs a function at its turn and resolves with its result. Rejects with a `QueueFullError` at once if the queue is full. */
  run<Result>(work: () => Result | PromiseLike<Result>, options?: TurnOptions): Promise<Awaited<Result>>
  /** Returns a function that waits for a turn each time it is called, then calls `work` with its `this` and arguments. */
  wrap<This, Args extends unknown[], Result>(
    work: (this: This, ...args: Args) => Result | PromiseLike<Result>,
    options?: TurnOptions | ((...args: Args) => TurnOptions),
  ): (this: This, ...args: Args) => Promise<Awaited<Result>>
  /** Resolves at the caller's turn. Not for a shaper with `concurrency`, because it cannot know when the work is over. */
  wait(options?: TurnOptions): Promise<Turn>
  /**
   * Lets no caller leave: of a key or, without a `key`, of all keys. Callers that come meanwhile wait too, and work that runs
   * goes on. A pause belongs to this process, and never shortens an earlier one.
   *
   * @example
   * ```ts
   * import { createShaper } from 'sluice'
   *
   * const bank = createShaper({ drain: '10/s', capacity: 100 })
   * bank.pause() // until bank.resume()
   * bank.pause({ key: 'acct_1', durationMs: 30_000 }) // as when the other side asks to be left alone
   * ```
   */
  pause(options?: PauseOptions): void
  /** Ends the pause of a key or, without a `key`, the pause of all callers. Waiters leave again, at the rate. */
  resume(options?: PausedCallers): void
  /** Returns true if callers may not leave now: those of a key or, without a `key`, all of them. */
  isPaused(options?: PausedCallers): boolean
  /** Resolves as soon as no caller waits or runs. */
  onIdle(): Promise<void>
  /** Accepts no more callers, and ends pauses that have no end. Resolves when no caller waits or runs. */
  close(options?: CloseOptions): Promise<void>
}
