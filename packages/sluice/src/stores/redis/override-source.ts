// Imported, so that a test that replaces the global timers does not stop reading.
import { clearTimeout, setTimeout } from 'node:timers'
import { Batch } from './batch.js'
import type { FailureReason } from './diagnostics.js'
import type { Failures } from './failures.js'
import type { Link } from './link.js'
import { OverrideCall, type SetOverride } from './override-call.js'
import { ForeignState, type Reply } from './reply.js'

/** A page takes so long before it is given up, if a decision's deadline is not longer. */
const PATIENCE_MS = 10_000

/** A page of what was set, oldest first. */
export interface Changes {
  /** Redis's time when it answered. */
  readonly nowUs: number
  /** The latest version that there was then. */
  readonly version: number
  /** After which version the page begins: the one that was asked for, or 0 if the reader has to start over. */
  readonly since: number
  readonly list: readonly { readonly name: string; readonly version: number; readonly value: string }[]
}

/** The overrides of one policy as Redis has them. */
export class OverrideSource {
  readonly #link: Link
  readonly #slot: number
  readonly #keys: readonly string[]
  readonly #failures: Failures
  readonly #patienceMs: number
  readonly #onCall: () => void

  constructor(
    link: Link,
    slot: number,
    keys: readonly string[],
    deadlineMs: number,
    failures: Failures,
    onCall: () => void,
  ) {
    this.#link = link
    this.#slot = slot
    this.#keys = keys
    this.#failures = failures
    this.#patienceMs = Math.max(PATIENCE_MS, deadlineMs)
    this.#onCall = onCall
  }

  /** Has Redis failed so often that decisions do not wait for it? */
  get isAway(): boolean {
    return this.#link.isAway(this.#slot)
  }

  /** Sets an override, like a decision by its deadline. */
  set(override: SetOverride): Promise<number> {
    this.#onCall()
    return new Promise((resolve, reject) => {
      this.#link.ask(new OverrideCall(this.#slot, this.#keys, override, resolve, reject, this.#failures))
    })
  }

  /**
   * Reads the changes after a version, `most` at most; lua/overrides.lua says what `base` is. No decision waits for the
   * answer, so it may come later than a decision's would. Failures are counted with those of decisions.
   */
  async changes(since: number, base: number, most: number): Promise<Changes> {
    this.#onCall()
    const batch = new Batch()
    batch.overrideChanges(this.#keys, since, most, base)
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
      throw new ForeignState(this.#keys.join(' or '))
    } catch (error) {
      throw this.#failures.unavailable('the overrides were not read', reason, error)
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
