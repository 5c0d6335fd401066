import type { AsyncStore, Store, SyncStore } from '../stores/index.js'

/** What a failing store does instead of answering: throws, or returns something that is no answer. */
export type Failure = () => unknown

/** What a store may say of its failures. */
type Told = Partial<Pick<Store, 'onFailure' | 'instances' | 'maxLocalKeys'>>

/** A store in front of another one that fails on command, as a store does whose server is away. */
export class FailingStore {
  readonly store: SyncStore | AsyncStore
  /** While this is set, every call of the store ends in it. */
  failure: Failure | undefined

  constructor(of: Store, told: Told = {}) {
    const pass = (method: keyof SyncStore) =>
      ((...given: unknown[]) => {
        if (this.failure !== undefined) return this.failure()
        return (of[method as keyof Store] as (...given: unknown[]) => unknown).apply(of, given)
      }) as never
    this.store = {
      clock: of.clock,
      synchronous: of.synchronous === true,
      ...told,
      decide: pass('decide'),
      decideOne: pass('decideOne'),
      charge: pass('charge'),
      refund: pass('refund'),
      reset: pass('reset'),
      block: pass('block'),
    } as SyncStore | AsyncStore
  }
}
