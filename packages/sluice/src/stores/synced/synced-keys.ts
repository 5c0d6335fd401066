import { KeysByState } from '../keys-by-state.js'
import type { LimitedKey } from '../store.js'
import { canSync } from './overshoot-of.js'
import { SyncedKey } from './synced-key.js'
import type { Views } from './views.js'

/** Each new key looks at so many others, and forgets those that are whole. */
const KEYS_A_SWEEP = 2

/** The keys that are counted in this process: at most `maxKeys`, until their views are whole and reported. */
export class SyncedKeys extends KeysByState<{ readonly canSync: boolean }, SyncedKey> {
  readonly #maxKeys: number
  readonly #views: Views
  #sweeping = this[Symbol.iterator]()

  constructor(maxKeys: number, views: Views) {
    super((_, limit) => ({ canSync: canSync(limit) }))
    this.#maxKeys = maxKeys
    this.#views = views
  }

  find({ name, limit, key }: LimitedKey): SyncedKey | undefined {
    const { keys } = this.limitOf(name, limit)
    return keys.get(key) ?? (key.isWellFormed() ? undefined : keys.get(key.toWellFormed()))
  }

  /** The key of a demand, which is counted here from now on; `undefined` if it cannot be, or if there is no room. */
  findOrAdd(limited: LimitedKey): SyncedKey | undefined {
    const { name, limit, key } = limited
    const keysOfLimit = this.limitOf(name, limit)
    const found = this.find(limited)
    if (found !== undefined || !keysOfLimit.canSync) return found
    this.#sweep()
    if (this.size >= this.#maxKeys) return undefined
    const synced = new SyncedKey(name, limit, key.toWellFormed())
    this.add(keysOfLimit, synced)
    return synced
  }

  #sweep(): void {
    for (let i = 0; i < KEYS_A_SWEEP; i++) {
      const synced: SyncedKey | undefined = this.#sweeping.next().value
      if (synced === undefined) {
        this.#sweeping = this[Symbol.iterator]()
        return
      }
      if (!synced.isDue && this.#views.isWhole(synced)) this.remove(this.limitOf(synced.name, synced.limit), synced)
    }
  }
}
