/**
 * Runs what may fail, now or later. An error is told to `next`, which is never called inside: or else its own errors would
 * come here too.
 */
export function attemptAll(run: () => unknown, next: (error: never) => void): void {
  let result: unknown
  try {
    result = run()
  } catch (error) {
    next(error as never)
    return
  }
  if (result instanceof Promise) result.catch((error) => next(error as never))
}
