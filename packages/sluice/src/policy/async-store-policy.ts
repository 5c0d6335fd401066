import type { CostOptions, ReserveOptions, Timed } from '../limiter/index.js'
import type { Limit } from '../limits/index.js'
import type { Explanation } from './explanation.js'
import type {
  AsyncPolicy,
  AsyncPolicyReservation,
  JointRequest,
  OverrideKey,
  OverrideOptions,
  PolicyBlockOptions,
  PolicyRefundOptions,
  PolicySetOptions,
  ResetOptions,
  RunTimeOverride,
} from './policy.js'
import type { StorePolicy } from './store-policy.js'
import type { StoreReservation } from './timed-policy-reservations.js'
import type { JointVerdict, Verdict } from './verdict.js'

/** A `StorePolicy` as an `AsyncPolicy`: every method is `async`, so that a wrong argument is a rejection, too. */
export class AsyncStorePolicy implements AsyncPolicy {
  readonly #policy: StorePolicy

  constructor(policy: StorePolicy) {
    this.#policy = policy
  }

  get name(): string {
    return this.#policy.name
  }

  get attributes(): readonly string[] {
    return this.#policy.attributes
  }

  get queues(): boolean {
    return this.#policy.queues
  }

  get leases(): boolean {
    return this.#policy.leases
  }

  levelsFor(request: object): readonly string[] {
    return this.#policy.levelsFor(request)
  }

  async check(request: object, options?: CostOptions): Promise<Verdict> {
    return await this.#policy.check(request, options)
  }

  async checkAll(requests: readonly JointRequest[]): Promise<JointVerdict> {
    return await this.#policy.checkAll(requests)
  }

  async peek(request: object, options?: CostOptions): Promise<Verdict> {
    return await this.#policy.peek(request, options)
  }

  async charge(request: object, options?: CostOptions): Promise<Verdict> {
    return await this.#policy.charge(request, options)
  }

  async refund(request: object, options?: PolicyRefundOptions): Promise<Verdict> {
    return await this.#policy.refund(request, options)
  }

  async reserve(request: object, options?: CostOptions | ReserveOptions): Promise<AsyncPolicyReservation & Timed> {
    const reservation = (await this.#policy.reserve(request, options)) as StoreReservation & Timed
    const { settle, cancel, release, [Symbol.dispose]: _, ...others } = reservation
    return {
      ...others,
      settle: async (actual) => await settle(actual),
      cancel: async () => await cancel(),
      release: async () => await release(),
      [Symbol.asyncDispose]: async () => void (await release()),
    }
  }

  async settle(id: string, actual: unknown): Promise<boolean> {
    return await this.#policy.settle(id, actual)
  }

  async cancel(id: string): Promise<boolean> {
    return await this.#policy.cancel(id)
  }

  async release(id: string): Promise<boolean> {
    return await this.#policy.release(id)
  }

  async set(request: object, options: PolicySetOptions<string>): Promise<Verdict> {
    return await this.#policy.set(request, options)
  }

  async reset(request: object, options?: ResetOptions<string>): Promise<void> {
    await this.#policy.reset(request, options)
  }

  async block(request: object, options: PolicyBlockOptions<string>): Promise<readonly string[]> {
    return await this.#policy.block(request, options)
  }

  async override(
    level: string,
    key: OverrideKey,
    limit: Limit | readonly Limit[],
    options?: OverrideOptions,
  ): Promise<void> {
    await this.#policy.override(level, key, limit, options)
  }

  async removeOverride(level: string, key: OverrideKey): Promise<void> {
    await this.#policy.removeOverride(level, key)
  }

  async overrides(): Promise<readonly RunTimeOverride[]> {
    return await this.#policy.overrides()
  }

  async explain(request: object, options?: CostOptions): Promise<readonly Explanation[]> {
    return await this.#policy.explain(request, options)
  }
}
