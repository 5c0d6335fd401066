import { MemoryStore } from './memory/memory-store.js'
import type { Store } from './store.js'

/** The classes of stores that cannot fail, by their prototypes. */
const PROTOTYPES = new WeakSet<object>([MemoryStore.prototype])

/**
 * Says that stores of a class cannot fail: they keep all states in this process. Its own module calls this, so that a
 * program loads only the stores that it uses.
 */
export function declareCannotFail(storeClass: { readonly prototype: Store }): void {
  PROTOTYPES.add(storeClass.prototype)
}

/**
 * Is the store of a class that cannot fail? Then it needs no `onFailure`, and an `onFailure` beside it is a mistake. A
 * subclass may fail.
 */
export function cannotFail(store: Store): boolean {
  return PROTOTYPES.has(Object.getPrototypeOf(store))
}
