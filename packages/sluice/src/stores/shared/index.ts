/** `sluice/shared`: the same limits for all worker threads of a process, in memory that they share. */
export { SharedStore, type SharedStoreStats, sharedStore } from './shared-store.js'
export type { ClockAnchor } from './thread-clock.js'
export type { AttachOptions, SharedStoreHandle, ThreadStoreOptions } from './thread-store-options.js'
