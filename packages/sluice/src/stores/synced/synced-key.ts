import type { Limit } from '../../limits/index.js'

/**
 * What this process knows of a key beside its view, which is a state in a memory store: the units that the store has not
 * counted yet, and how old its knowledge is.
 */
export class SyncedKey {
  readonly name: string
  readonly key: string
  /** The limit of the last request: another one with the same state may have other numbers. */
  limit: Limit
  /** Units that are in the view and that the store has not confirmed, with those of a call that is under way. */
  unreported = 0
  /** Those of the call that is under way. */
  sending = 0
  /** Until when the store has blocked the key by `blockFor` or `block`, as far as this process knows. */
  blockedUntilMs = 0
  /** When the store was last asked with success, in epoch milliseconds; 0 if never. */
  asOfMs = 0
  /** When units were last sent, in epoch microseconds: units that were taken later are not reported. */
  sentUs = 0
  /** Since when the view was not renewed while the key was in use. */
  sinceMs = 0
  /** Was it asked for since its last sync? */
  isUsed = false
  /** Will it be synced when the interval ends? */
  isDue = false
  /** Has its last report failed? Then it may be counted or not, and the store must answer a look before the next one. */
  isUnsure = false
  /** Grows when the state is changed by another call, so that an answer from before that change is not believed. */
  version = 0
  /** The call that is under way. There is at most one, so that no unit is reported twice while the store answers. */
  call: Promise<unknown> | undefined

  constructor(name: string, limit: Limit, key: string) {
    this.name = name
    this.limit = limit
    this.key = key
  }
}
