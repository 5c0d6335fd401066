import type { Awaitable } from 'sluice'

/**
 * Continues with a value: now if it is there, otherwise when it is. So one form of a decision serves a store that answers at once,
 * whose calls never wait for a turn of the event loop, and one that answers later.
 */
export function whenThere<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value as T)
}

/** All values: now if none is still to come. */
export function allThere<T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[])
}

/** Runs what answers now or later, and passes its error on to `failed`, whenever it comes. */
export function whenItFails<T>(run: () => Awaitable<T>, failed: (error: unknown) => never): Awaitable<T> {
  try {
    const value = run()
    return value instanceof Promise ? value.catch(failed) : value
  } catch (error) {
    return failed(error)
  }
}
