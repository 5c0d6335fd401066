/** Values that are there now, or later. Functions among the options return either, and the usual request waits for none. */

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
