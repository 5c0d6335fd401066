/** What `attempt` gives when there was an error. */
export const FAILED = Symbol('failed')

/** What `run` gives. An error is told to `next`, which is never called inside: or else its own errors would come here too. */
export function attempt<T>(run: () => T, next: (error: never) => void): T | typeof FAILED {
  let error: unknown
  try {
    return run()
  } catch (thrown) {
    error = thrown
  }
  next(error as never)
  return FAILED
}

/** The same for what may go on for a while. */
export function attemptAll(run: () => unknown, next: (error: never) => void): void {
  const result = attempt(run, next)
  if (result instanceof Promise) result.catch((error) => next(error as never))
}
