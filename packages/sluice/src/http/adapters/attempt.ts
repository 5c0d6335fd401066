/** An error that a framework takes for one, whatever was thrown: `next(undefined)` would mean to go on. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error(`a function among the options of rateLimit threw ${String(thrown)}`)
}

/**
 * Runs what may fail, now or later. An error is told to `next`, which is never called inside: or else its own errors would
 * come here too. Otherwise `done` is told what it gave.
 */
export function attemptAll(run: () => unknown, next: (error: Error) => void, done?: (value: unknown) => void): void {
  let result: unknown
  try {
    result = run()
  } catch (error) {
    next(errorOf(error))
    return
  }
  if (result instanceof Promise) result.then(done, (error) => next(errorOf(error)))
  else done?.(result)
}
