/** Values that are there now, or later. Functions among the options return either, and the usual request waits for none. */
import { InvalidTypeError } from '../errors.js'

/** A value, or a promise of it. Any object with `then` is a promise: the query builders of some databases are. */
export type Later<T> = T | PromiseLike<T>

/** Whether a value comes later. */
export function isLater<T>(value: Later<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Applies `to` to a value, now or when its promise resolves. */
export function mapped<From, To>(value: Later<From>, to: (value: From) => To | Promise<To>): To | Promise<To> {
  return isLater(value) ? Promise.resolve(value).then(to) : to(value)
}

/** Checks that a function among the options did not return a promise, which would count as true or as a value. */
export function atOnce<T>(option: string, answer: T): T {
  if (!isLater(answer)) return answer
  // The result is not used, so its rejection must not end the process.
  Promise.resolve(answer).catch(() => {})
  throw new InvalidTypeError(`${option} must be a synchronous function, got one that returns a promise`, { option })
}
