/** Either a value or the promise of one. */
export type Awaitable<T> = T | Promise<T>
