import type { FrameText } from './frame-history.js'
import type { LiveDemo, LiveLevels, LivePolicy, LiveStore, LiveTopKeys } from './live-events.js'
import type { RecentRequest } from './recent-requests.js'

/**
 * What every worker is told once a second: everything that one of its clients may be sent. Plain data, which goes through
 * messages. Keys and requests are not masked: the door masks them.
 */
export interface LiveNews {
  /** Another policy is in force: the frames from this one on are its. */
  readonly levels?: LiveLevels
  /** The history, for a worker that has just started. */
  readonly past?: { readonly seconds: readonly FrameText[]; readonly tens: readonly FrameText[] }
  readonly second?: FrameText
  readonly ten?: FrameText
  readonly store?: LiveStore
  /** By the level that clients watch, or `ALL_LEVELS`. */
  readonly keys?: readonly { readonly of: string; readonly top: LiveTopKeys }[]
  readonly requests?: readonly RecentRequest[]
  readonly demo?: LiveDemo
  /** Each worker tells itself: it hears of a policy before the news of its second. */
  readonly policy?: LivePolicy
}
