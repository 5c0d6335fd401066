// Imported, so that a test that replaces the global timers does not stop reading.
import { clearTimeout, setTimeout } from 'node:timers'
import { Batch, type Reply } from './batch.js'
import { type FailureReason, type Failures, ForeignState, unavailable } from './failures.js'
import type { Link } from './link.js'
import { type Place, scriptCall } from './script-call.js'

/** Reading a page is given up after this long, or after a decision's deadline if that is longer. */
const PATIENCE_MS = 10_000

/** A page of changes, oldest first. */
export interface Changes {
  /** Redis's time when it answered. */
  readonly nowUs: number
  /** The latest version at that time. */
  readonly version: number
  /** The page begins after this version: the version that was asked for, or 0 if the reader has to start over. */
  readonly since: number
  readonly list: readonly { readonly name: string; readonly version: number; readonly value: string }[]
}

/** A change of one override. */
interface OverrideChange {
  /** `level/key`. */
  readonly name: string
  /** The limits as text, or `''` to remove the override. */
  readonly value: string
  /** When it ends, in whole epoch milliseconds; -1 if it does not. */
  readonly untilMs: number
}

/** The overrides of one policy as Redis has them. */
export class OverrideSource {
  readonly #link: Link
  readonly #place: Place
  readonly #failures: Failures
  readonly #patienceMs: number
  readonly #onCall: () => void

  constructor(link: Link, place: Place, deadlineMs: number, failures: Failures, onCall: () => void) {
    this.#link = link
    this.#place = place
    this.#failures = failures
    this.#patienceMs = Math.max(PATIENCE_MS, deadlineMs)
    this.#onCall = onCall
  }

  /** Has Redis failed so often that decisions do not wait for it? */
  get isAway(): boolean {
    return this.#link.isAway(this.#place.hashSlot)
  }

  /**
   * Sets an override, like a decision by its deadline. Resolves with its version, or with 0 if its end is over by the clock
   * of Redis. Rejects with a `StoreUnavailableError` if Redis does not answer.
   */
  set(change: OverrideChange): Promise<number> {
    this.#onCall()
    const { keys } = this.#place
    return new Promise((resolve, reject) => {
      const call = scriptCall(this.#place, {
        addTo: (batch) => batch.setOverride(keys, change.name, change.value, change.untilMs),
        read: (reply) => {
          if (!reply.isDone()) return new ForeignState([keys[0]])
          resolve(reply.number())
          return undefined
        },
        fail: (reason, error) => reject(unavailable('the override may not have been changed', reason, error)),
      })
      this.#link.ask(call)
    })
  }

  /**
   * Reads the changes after a version, `most` at most; lua/overrides.lua says what `base` is. No decision waits for the
   * answer, so it may come later than a decision's. Failures are counted with those of decisions.
   */
  async changes(since: number, base: number, most: number): Promise<Changes> {
    this.#onCall()
    const batch = new Batch()
    batch.overrideChanges(this.#place.keys, since, most, base)
    let reason: FailureReason = 'error'
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reason = 'deadline'
        reject(new Error(`Redis did not answer within ${this.#patienceMs} ms`))
      }, this.#patienceMs).unref()
    })
    try {
      const reply = await Promise.race([this.#link.runAlone(batch), late])
      if (reply.isDone()) return readChanges(reply)
      reason = 'foreign'
      throw new ForeignState(this.#place.keys)
    } catch (error) {
      this.#failures.count(reason, error)
      throw unavailable('the overrides were not read', reason, error)
    } finally {
      clearTimeout(timer)
    }
  }
}

function readChanges(reply: Reply): Changes {
  const [version, since, count] = [reply.number(), reply.number(), reply.number()]
  const list = Array.from({ length: count }, () => ({
    name: reply.text(),
    version: reply.number(),
    value: reply.text(),
  }))
  return { nowUs: reply.nowUs, version, since, list }
}
