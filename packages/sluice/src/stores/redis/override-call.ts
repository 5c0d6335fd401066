import type { Batch } from './batch.js'
import { Call } from './call.js'
import type { FailureReason } from './diagnostics.js'
import type { Failures } from './failures.js'
import { ForeignState, type Reply } from './reply.js'

/** What is asked about overrides, and how its answer is read. */
export interface OverrideQuestion<T> {
  /** For the error that says that it was not done. */
  readonly verb: string
  addTo(batch: Batch): void
  read(reply: Reply): T
}

/** Something about a policy's overrides. Rejects with a `StoreUnavailableError` if Redis does not answer. */
export class OverrideCall<T> extends Call {
  readonly #keys: readonly string[]
  readonly #question: OverrideQuestion<T>
  readonly #resolve: (value: T) => void
  readonly #reject: (error: unknown) => void
  readonly #failures: Failures

  constructor(
    slot: number,
    keys: readonly string[],
    question: OverrideQuestion<T>,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
    failures: Failures,
  ) {
    super(slot, keys[0], keys.length)
    this.#keys = keys
    this.#question = question
    this.#resolve = resolve
    this.#reject = reject
    this.#failures = failures
  }

  override get together(): string {
    return this.#keys.join(' ')
  }

  addTo(batch: Batch): void {
    this.#question.addTo(batch)
  }

  read(reply: Reply): Error | undefined {
    if (!reply.isDone()) return new ForeignState(this.key)
    this.#resolve(this.#question.read(reply))
    return undefined
  }

  fail(reason: FailureReason, error: unknown): void {
    this.#reject(this.#failures.unavailable(`the overrides were not ${this.#question.verb}`, reason, error))
  }
}
