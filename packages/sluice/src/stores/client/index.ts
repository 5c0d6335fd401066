/** `sluice/client`: the same limits, kept by a Sluice service that programs in any language share. */
export type { ServiceBreakerEvent, ServiceDegradedEvent, ServiceFailureReason } from './service-failures.js'
export { type ServiceStore, type ServiceStoreStats, serviceStore } from './service-store.js'
export type { ServiceStoreOptions } from './service-store-options.js'
