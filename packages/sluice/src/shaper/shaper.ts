/** What a caller may say about its turn. */
export interface TurnOptions {
  /** Whose queue to wait in: each key leaves at the whole rate. Default: one queue for all. */
  readonly key?: string
  /** How many units it is: one of 3 leaves as three of 1 would together. A safe integer from 0. Default 1. */
  readonly cost?: number
  /** Who waits no longer when it is aborted; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * A whole number from -9 to 9: those with a higher one leave before those with a lower one. Default 0. Nobody starves: for
   * each step between them, no more than `capacity` overtake one that waits.
   */
  readonly priority?: number
  /** Who has not left after so long does not leave; one of whom that is known before does not even wait. */
  readonly maxWaitMs?: number
}

/** When a turn was. */
export interface Turn {
  /** The slot, by the shaper's clock in epoch milliseconds: those of a key are never closer than cost / drain. */
  readonly atMs: number
  /** Absent, or how the turn was given although the store did not answer. */
  readonly degraded?: 'open' | 'local'
}

/** How a shaper ends. */
export interface CloseOptions {
  /** Those that wait leave when it is their turn, or are rejected at once. Default `'leave'`. */
  readonly waiting?: 'leave' | 'reject'
}

/** The leaky bucket as a queue: callers wait for their turn, and leave at a constant rate. */
export interface Shaper {
  readonly name: string
  /** How many wait. */
  readonly size: number
  /** How many run: they have left, and what they do is not over yet. */
  readonly pending: number
  /** Runs a function when it is its turn, and gives what it gives. Too many waiting is a `QueueFullError` at once. */
  run<Result>(work: () => Result | PromiseLike<Result>, options?: TurnOptions): Promise<Awaited<Result>>
  /** A function that does the same at its turn, each time that it is called, for whomever it is called on. */
  wrap<This, Args extends unknown[], Result>(
    work: (this: This, ...args: Args) => Result | PromiseLike<Result>,
    options?: TurnOptions | ((...args: Args) => TurnOptions),
  ): (this: This, ...args: Args) => Promise<Awaited<Result>>
  /** Resolves when it is the caller's turn. */
  wait(options?: TurnOptions): Promise<Turn>
  /**
   * Nobody of a key leaves for so long, as when the other side has said that it wants to be left alone. They wait, and new
   * ones wait with them. A pause never shortens another.
   */
  pause(durationMs: number, options?: { readonly key?: string }): void
  /** Resolves as soon as nobody waits or runs. */
  onIdle(): Promise<void>
  /** Takes nobody any more. Resolves when nobody waits or runs. */
  close(options?: CloseOptions): Promise<void>
}
