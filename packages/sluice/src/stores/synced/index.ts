/** `sluice/synced`: every key is decided in this process, and reported to a shared store once in an interval. */
export { type Fleet, overshootOf } from './overshoot-of.js'
export { SyncedStore, syncedStore } from './synced-store.js'
export type { SyncedStoreOptions } from './synced-store-options.js'
export type { SyncedStoreStats } from './synced-store-stats.js'
