/** Either a value or the promise of one. */
export type Awaitable<T> = T | Promise<T>

/** Is it a promise or any other thenable? */
export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return 'then' in value && typeof value.then === 'function'
}
