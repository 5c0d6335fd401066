import type { DecisionChange } from '../recorder/decision-changes.js'
import type { LiveStore } from './live-events.js'
import type { KeysOfLevel } from './merge-keys.js'
import type { RecentRequest } from './recent-requests.js'

/** Stands for all levels together where the name of a level is wanted. No level has it, because names are not empty. */
export const ALL_LEVELS = ''

/** What one worker saw since its last sample. Plain data, which goes through messages. */
export interface LiveSample {
  /** Only with levels that have decided. */
  readonly change: DecisionChange
  readonly worstDelayMs: number
  readonly store: LiveStore
  /** The levels whose top keys clients of this worker watch, or `ALL_LEVELS`. Empty if no client watches. */
  readonly watched: readonly string[]
  readonly keys: readonly KeysOfLevel[]
  readonly requests: readonly RecentRequest[]
}

/** What a sample should have beside the counts. */
export interface LiveWish {
  /** Does a client of any worker watch? */
  readonly isWatched: boolean
  /** The levels whose top keys are due. */
  readonly keysOf: readonly string[]
}
