/** An error for the framework, whatever was thrown: `next(undefined)` would let the request go on. */
function errorOf(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error(`a function among the options of rateLimit threw ${String(thrown)}`)
}

/**
 * Calls `run`, which may throw, return a value or return a promise, and then either `done` with the value or `fail` with the
 * error. Errors of `done` are not caught.
 */
export function attempt<T>(run: () => T | Promise<T>, fail: (error: Error) => void, done?: (value: T) => void): void {
  let result: T | Promise<T>
  try {
    result = run()
  } catch (error) {
    fail(errorOf(error))
    return
  }
  if (result instanceof Promise) result.then(done, (error) => fail(errorOf(error)))
  else done?.(result)
}
