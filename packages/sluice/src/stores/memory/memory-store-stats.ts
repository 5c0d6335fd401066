import { type Decision, uncountedDenial } from '../../limits/index.js'

/** What a memory store holds, and how often it ran short of memory. Counters only grow. */
export interface MemoryStoreStats {
  /** Keys with a state or a block. */
  readonly keys: number
  readonly maxKeys: number
  /** Bytes of all tables. */
  readonly bytes: number
  /** States that were whole again and have been forgotten. */
  readonly dropped: number
  /** Decisions for new keys that had to share a state, because the store was full. */
  readonly shared: number
  /** Denials for lack of memory alone, charges that were cut short by it, and blocks of `blockFor` that it prevented. */
  readonly refused: number
}

/** The wait that a client is told after a refusal for lack of memory: the store cannot know when there is room. */
const REFUSED_MS = 1000

/**
 * Counts decisions that were shaped by a lack of memory: see {@link MemoryStoreStats}. A store shares the counts with its
 * records.
 */
export class MemoryShortage {
  shared = 0
  refused = 0

  /** Counts a denial for lack of memory alone, and returns it. */
  refusal(quota: number): Decision {
    this.refused++
    return uncountedDenial(quota, REFUSED_MS)
  }
}
