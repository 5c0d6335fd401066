/** `sluice/leased`: busy keys are decided in this process, on units that it takes from a shared store in advance. */
export type { LeaseGrant, LeaseReturn, LeaseTerms } from '../../limits/index.js'
export type { LeaseAnswer, LeaseFailure, LeaseRequest, Leases, LendingStore } from '../leases.js'
export { LeasedStore, leasedStore } from './leased-store.js'
export type { LeasedStoreOptions } from './leased-store-options.js'
export type { LeasedStoreStats } from './leased-store-stats.js'
