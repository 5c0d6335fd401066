import type { Clock } from '../../clock.js'
import { type Decision, isUnlimited } from '../../limits/index.js'
import { MemoryStore } from '../memory/memory-store.js'
import { refilled } from './overshoot-of.js'
import type { SyncedKey } from './synced-key.js'

/**
 * The views of this process: for each key the state that the store has, as far as this process knows, less the units that
 * the store has not counted yet. All decisions are made on them. A key that was never asked for has a whole view.
 */
export class Views {
  readonly memory: MemoryStore
  readonly #mostBlocks: number

  /** Has room for the views of so many keys, and for twice as many blocks, so that a view always finds room. */
  constructor(maxKeys: number, clock: Clock) {
    this.memory = new MemoryStore({ maxKeys: 3 * maxKeys, clock })
    this.#mostBlocks = 2 * maxKeys
  }

  /** Is the view like that of a key which was never asked for? */
  isWhole({ name, limit, key }: SyncedKey): boolean {
    const { allowed, resetAfterMs } = this.memory.peekOne(name, limit, key, 0)
    return allowed && resetAfterMs === 0
  }

  /** What the view says to a look for a cost of 1. */
  look({ name, limit, key }: SyncedKey): Decision {
    return this.memory.peekOne(name, limit, key, 1)
  }

  /**
   * Makes the view what the store has said: its answer to a look for a cost of 1. `asked` is the view when the call was made,
   * which had `unsent` units that the call did not tell. A view that the answer confirms stays as it is, because it knows
   * fractions of a unit and the answer does not.
   */
  learn(synced: SyncedKey, answer: Decision, asked: Decision, unsent: number): void {
    const { name, limit, key } = synced
    const isConfirmed =
      asked.remaining === answer.remaining - unsent &&
      asked.retryAfterMs >= answer.retryAfterMs &&
      asked.resetAfterMs >= answer.resetAfterMs
    if (isConfirmed) return
    if (answer.allowed) {
      // A block that the store no longer has must go. So does a debt, which `put` replaces.
      if (!this.memory.peekOne(name, limit, key, 0).allowed) this.memory.reset(name, key)
      this.put(synced, answer.remaining)
      return
    }
    // A bucket in debt gets its first unit when the wait is over. Any other wait is kept as a block.
    const tokens = limit.algorithm === 'token-bucket' ? Math.floor(1 - refilled(limit, answer.retryAfterMs)) : 0
    this.put(synced, Math.max(tokens, -Number.MAX_SAFE_INTEGER))
    if (this.look(synced).retryAfterMs < answer.retryAfterMs) this.block(name, key, answer.retryAfterMs * 1_000)
  }

  /** Makes the view that of a key which has `units` left in the store. Fewer than 0 are a debt. */
  put({ name, limit, key, unreported }: SyncedKey, units: number): void {
    if (isUnlimited(limit)) return
    const left = units - unreported
    this.memory.set({ name, limit, key }, Math.max(0, left))
    if (left < 0) this.memory.charge({ name, limit, key, cost: -left })
  }

  /** Blocks a key here, if there is room. Without room, the key is denied once the store has been asked. */
  block(name: string, key: string, durationUs: number): void {
    if (this.memory.size < this.#mostBlocks) this.memory.block(name, key, durationUs)
  }
}
