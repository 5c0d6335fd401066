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
