import type { Answer, Clock, Decision, Demand, LimitedKey } from 'sluice'
import type { LeaseAnswer, LeaseFailure, Leases, LendingStore } from 'sluice/leased'
import { arithmeticOf, type Taken, uncountedDenial } from 'sluice/limits'
import type { LendingBuckets } from '../leased/lending-store.js'
import type { Network } from './network.js'
import type { Node } from './node.js'

/** The message of the error of a call without an answer. */
export const NOT_ANSWERED = 'the store did not answer'

/** The store of a fleet as one node sees it: every call goes over the network, and a call that fails denies. */
export class RemoteStore implements LendingStore {
  readonly synchronous = false
  readonly clock: Clock
  readonly leases: Leases
  readonly #server: LendingBuckets
  readonly #onRefund: (demand: Demand, taken: Taken) => void
  readonly #ask: <T>(atStore: () => Promise<T>) => Promise<T | undefined>

  /** `onRefund` is called when the store gives units back. */
  constructor(
    server: LendingBuckets,
    network: Network,
    node: Node,
    onRefund: (demand: Demand, taken: Taken) => void = () => {},
  ) {
    this.#onRefund = onRefund
    this.#server = server
    this.#ask = (atStore) => network.call(node, atStore)
    this.clock = node.clock
    this.leases = {
      leaseUs: (limit, longestUs) => server.leases.leaseUs(limit, longestUs),
      exchange: async (request): Promise<LeaseAnswer | LeaseFailure> =>
        (await this.#ask(() => server.leases.exchange(request))) ?? { instead: denied },
    }
  }

  /** It answers its own failures. */
  prepare(): void {}

  async decide(demands: readonly Demand[]): Promise<Answer> {
    return (await this.#ask(() => this.#server.decide(demands))) ?? denied(demands)
  }

  async peek(demands: readonly Demand[]): Promise<Answer> {
    return (await this.#ask(() => this.#server.peek(demands))) ?? denied(demands)
  }

  charge(demand: Demand): Promise<Decision> {
    return this.#ask(() => this.#server.charge(demand)).then(answered)
  }

  /** A refund is never doubled: a store cannot know it from another one, so a client sends it once. */
  refund(demand: Demand, taken: Taken | undefined): Promise<Decision> {
    let refunded: Promise<Decision> | undefined
    const refund = () => {
      if (refunded === undefined && taken !== undefined) this.#onRefund(demand, taken)
      refunded ??= this.#server.refund(demand, taken)
      return refunded
    }
    return this.#ask(refund).then(answered)
  }

  set(limited: LimitedKey, remaining: number): Promise<Decision> {
    return this.#ask(() => this.#server.set(limited, remaining)).then(answered)
  }

  async reset(name: string, key: string): Promise<void> {
    await this.#ask(() => this.#server.reset(name, key))
  }

  async block(name: string, key: string, durationUs: number): Promise<void> {
    await this.#ask(() => this.#server.block(name, key, durationUs))
  }
}

/** What a store with `onFailure: 'closed'` says while it is away. */
function denied(demands: readonly Demand[]): Answer {
  const decisions = demands.map(({ limit }) => ({
    ...uncountedDenial(arithmeticOf(limit).quota, 1),
    degraded: 'closed' as const,
  }))
  return { allowed: false, decisions, takenUs: demands.map(() => 0) }
}

function answered<T>(answer: T | undefined): T {
  if (answer === undefined) throw new Error(NOT_ANSWERED)
  return answer
}
