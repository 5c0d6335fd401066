import { type AsyncStore, memoryStore } from 'sluice'

/** A memory store that answers a turn of the event loop later. */
export function laterStore(): AsyncStore {
  const store = memoryStore()
  const later = (name: 'decide' | 'peek' | 'charge' | 'refund' | 'set' | 'reset' | 'block') =>
    (async (...given: never[]) => {
      await new Promise((resolve) => setImmediate(resolve))
      return Reflect.apply(store[name], store, given)
    }) as never
  return {
    decide: later('decide'),
    peek: later('peek'),
    charge: later('charge'),
    set: later('set'),
    refund: later('refund'),
    reset: later('reset'),
    block: later('block'),
  }
}
