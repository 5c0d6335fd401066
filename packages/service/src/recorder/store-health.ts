import { type AsyncStore, MemoryStore, type MemoryStoreStats, type SyncStore } from 'sluice'
import { LeasedStore, type LeasedStoreStats } from 'sluice/leased'
import type { PrometheusText } from 'sluice/metrics'
import type { RedisStore, RedisStoreStats } from 'sluice/redis'
import { ThreadStore } from '../serve/threads/thread-store.js'

/** How the store is, as plain data. `leases`: what is held in front of it on lease. */
export type StoreHealth = OwnHealth & { readonly leases?: LeasedStoreStats }

type OwnHealth =
  | ({ readonly kind: 'memory' } & MemoryStoreStats)
  | ({ readonly kind: 'redis' } & RedisStoreStats)
  | { readonly kind: 'other' }

/** Reads a store's own counters. Asks no server. */
export function storeHealth(store: SyncStore | AsyncStore): StoreHealth {
  if (store instanceof LeasedStore) return { ...storeHealth(store.lending), leases: store.stats() }
  if (store instanceof MemoryStore || store instanceof ThreadStore) return { kind: 'memory', ...store.stats() }
  const { stats } = store as Partial<RedisStore>
  if (typeof stats === 'function') return { kind: 'redis', ...stats.call(store) }
  return { kind: 'other' }
}

/** Writes a store's counters as metrics. */
export function writeStoreHealth(text: PrometheusText, health: StoreHealth): void {
  const gauge = (name: string, help: string, value: number) =>
    text.metric(`sluice_store_${name}`, 'gauge', help).sample({}, value)
  const counter = (name: string, help: string, value: number) =>
    text.metric(`sluice_store_${name}_total`, 'counter', help).sample({}, value)
  if (health.kind === 'memory') {
    gauge('keys', 'Keys with a state or a block.', health.keys)
    gauge('max_keys', 'The most keys that the store keeps.', health.maxKeys)
    gauge('bytes', 'Bytes of all tables.', health.bytes)
    counter('dropped', 'States that were whole again and were forgotten.', health.dropped)
    counter('shared', 'Decisions for new keys that had to share a state, because the store was full.', health.shared)
    counter('refused', 'Denials for lack of memory.', health.refused)
  } else if (health.kind === 'redis') {
    counter('calls', 'Calls of the store.', health.calls)
    counter('batches', 'Calls of the script. Calls divided by this is the size of a batch.', health.batches)
    text.metric('sluice_store_degraded_total', 'counter', 'Calls that were answered without Redis, by reason.')
    for (const [reason, count] of Object.entries(health.degraded)) text.sample({ reason }, count)
    counter('late_replies', 'Replies after the deadline: units were taken, and the caller was not told.', health.late)
    counter('scripts_sent', 'How often the text of the script was sent.', health.scriptsSent)
    counter('reconnects', 'Connections that were dropped because nothing came back on them.', health.reconnects)
    gauge('pending_calls', 'Calls that wait for an answer.', health.pending)
    gauge('batches_in_flight', 'Calls of the script that wait for an answer.', health.batchesInFlight)
    gauge(
      'breaker_open',
      '1 while Redis is not asked because it did not answer, otherwise 0.',
      Number(health.breaker === 'open'),
    )
  }
  if (health.leases !== undefined) writeLeases(text, health.leases)
}

function writeLeases(text: PrometheusText, leases: LeasedStoreStats): void {
  const gauge = (name: string, help: string, value: number) =>
    text.metric(`sluice_lease_${name}`, 'gauge', help).sample({}, value)
  const counter = (name: string, help: string, value: number) =>
    text.metric(`sluice_lease_${name}_total`, 'counter', help).sample({}, value)
  gauge('keys', 'Keys that are leased now.', leases.keys)
  gauge('held_units', 'Units on lease now that were not spent.', leases.held)
  counter('granted_units', 'Units that Redis has lent: spent, returned, expired or held.', leases.granted)
  counter('spent_units', 'Units that were admitted without asking Redis.', leases.spent)
  counter('returned_units', 'Units that were given back in time.', leases.returned)
  counter('expired_units', 'Units that were not spent before their lease ended.', leases.expired)
  counter('exchanges', 'Requests for leases. Those of several keys share a call.', leases.exchanges)
  counter('direct_decisions', 'Requests that Redis decided, because their keys are not leased.', leases.direct)
}
