import type { Awaitable } from '../../stores/index.js'
import type { Guard } from '../guard.js'
import type { Passage } from '../passage.js'

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

/**
 * Lets a request enter a guard, and calls `proceed` with the passage or `next` with an error. `proceed` gets all arguments, so
 * that no function has to be made for each request.
 */
export function enterGuard<Request extends object, Response, Next extends (error?: Error) => void>(
  guard: Guard<Request>,
  request: Request,
  response: Response,
  next: Next,
  proceed: (passage: Passage | undefined, request: Request, response: Response, next: Next) => void,
): void {
  let entered: Awaitable<Passage> | undefined
  try {
    entered = guard.enter(request)
  } catch (error) {
    next(errorOf(error))
    return
  }
  if (entered instanceof Promise)
    entered.then(
      (passage) => proceed(passage, request, response, next),
      (error) => next(errorOf(error)),
    )
  else proceed(entered, request, response, next)
}
