/** Stores keep the state of limits: the interface, and the store that keeps it in this process. */
export type { Awaitable } from './awaitable.js'
export { MemoryStore, type MemoryStoreStats, memoryStore } from './memory/memory-store.js'
export type { MemoryStoreOptions } from './memory/memory-store-options.js'
export { checkOnFailure, type OnFailure } from './on-failure.js'
export type { Overrides, SyncOverrides } from './overrides.js'
export type { Answer, AsyncStore, Demand, NamedLimit, Store, SyncStore } from './store.js'
export { cannotFail, withFallback } from './with-fallback.js'
