/** Stores keep the state of limits: the interface, and the store that keeps it in this process. */

export { cannotFail } from './cannot-fail.js'
export { copiesOf, correctionsOf, refundsOf } from './corrections-of.js'
export { checkOnFailure } from './fallback.js'
export { MemoryStore, memoryStore } from './memory/memory-store.js'
export type { MemoryStoreOptions } from './memory/memory-store-options.js'
export type { MemoryStoreStats } from './memory/memory-store-stats.js'
export type {
  Answer,
  AsyncStore,
  Awaitable,
  Correction,
  Degraded,
  Demand,
  LimitedKey,
  NamedLimit,
  OnFailure,
  Opening,
  OpenReservation,
  OverrideEntry,
  Overrides,
  PromptStore,
  Reservations,
  Store,
  SyncOverrides,
  SyncStore,
} from './store.js'
export { worseOf } from './store.js'
export { withFallback } from './with-fallback.js'
