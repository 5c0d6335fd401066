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
  /** Resolves at the caller's turn. */
  wait(options?: TurnOptions): Promise<Turn>
  /**
   * Lets no caller of a key leave for so long, as when the other side asks to be left alone. Callers that come meanwhile
   * wait too. A pause never shortens an earlier one.
   */
  pause(durationMs: number, options?: { readonly key?: string }): void
  /** Resolves as soon as no caller waits or runs. */
  onIdle(): Promise<void>
  /** Accepts no more callers. Resolves when no caller waits or runs. */
  close(options?: CloseOptions): Promise<void>
}
