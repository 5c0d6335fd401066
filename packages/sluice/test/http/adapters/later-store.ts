import { type AsyncStore, type MemoryStore, memoryStore } from 'sluice'

/** A memory store that answers a turn of the event loop later. It tells its clock only if the store is given. */
export function laterStore(given?: MemoryStore): AsyncStore {
  const store = given ?? memoryStore()
  const later = (name: 'decide' | 'peek' | 'charge' | 'refund' | 'set' | 'reset' | 'block') =>
    (async (...args: never[]) => {
      await new Promise((resolve) => setImmediate(resolve))
      return Reflect.apply(store[name], store, args)
    }) as never
  return {
    clock: given?.clock,
    decide: later('decide'),
    peek: later('peek'),
    charge: later('charge'),
    set: later('set'),
    refund: later('refund'),
    reset: later('reset'),
    block: later('block'),
  }
}
