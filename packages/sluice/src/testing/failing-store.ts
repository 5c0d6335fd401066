import type { AsyncStore, Store, SyncStore } from '../stores/index.js'

/** Replaces a call of a failing store: throws, or returns a value that is not an answer. */
export type Failure = () => unknown

/** The properties by which a store configures its fallback. */
type FallbackProperties = Partial<Pick<Store, 'onFailure' | 'instances' | 'maxLocalKeys'>>

/** A store in front of another store. It fails on command, like a store whose server is unreachable. */
export class FailingStore {
  readonly store: SyncStore | AsyncStore
  /** While this is set, it replaces every call of the store. */
  failure: Failure | undefined

  constructor(inner: Store, properties: FallbackProperties = {}) {
    const pass = (method: keyof SyncStore) =>
      ((...given: unknown[]) => {
        if (this.failure !== undefined) return this.failure()
        return (inner[method as keyof Store] as (...given: unknown[]) => unknown).apply(inner, given)
      }) as never
    this.store = {
      clock: inner.clock,
      synchronous: inner.synchronous === true,
      blocksByRule: inner.blocksByRule === true,
      ...properties,
      decide: pass('decide'),
      decideOne: pass('decideOne'),
      peek: pass('peek'),
      peekOne: pass('peekOne'),
      charge: pass('charge'),
      refund: pass('refund'),
      set: pass('set'),
      reset: pass('reset'),
      block: pass('block'),
    } as SyncStore | AsyncStore
  }
}
