import type { Batch } from './batch.js'
import { Call } from './call.js'
import type { FailureReason } from './diagnostics.js'
import type { Failures } from './failures.js'
import { ForeignState, type Reply } from './reply.js'

/** What an override is set to. */
export interface SetOverride {
  /** `level/key`. */
  readonly name: string
  /** The limits as text, or `''` to remove the override. */
  readonly value: string
  /** When it ends, in whole epoch milliseconds; -1 if it does not. */
  readonly untilMs: number
}

/**
 * Sets an override. Resolves with its version, or with 0 if its end is over by Redis's clock. Rejects with a
 * `StoreUnavailableError` if Redis does not answer.
 */
export class OverrideCall extends Call {
  readonly #keys: readonly string[]
  readonly #override: SetOverride
  readonly #resolve: (version: number) => void
  readonly #reject: (error: unknown) => void
  readonly #failures: Failures

  constructor(
    slot: number,
    keys: readonly string[],
    override: SetOverride,
    resolve: (version: number) => void,
    reject: (error: unknown) => void,
    failures: Failures,
  ) {
    super(slot, keys[0], keys.length)
    this.#keys = keys
    this.#override = override
    this.#resolve = resolve
    this.#reject = reject
    this.#failures = failures
  }

  override get together(): string {
    return this.#keys.join(' ')
  }

  addTo(batch: Batch): void {
    const { name, value, untilMs } = this.#override
    batch.setOverride(this.#keys, name, value, untilMs)
  }

  read(reply: Reply): Error | undefined {
    if (!reply.isDone()) return new ForeignState(this.key)
    this.#resolve(reply.number())
    return undefined
  }

  fail(reason: FailureReason, error: unknown): void {
    this.#reject(this.#failures.unavailable('the override may not have been changed', reason, error))
  }
}
