import assert from 'node:assert/strict'
import { InvalidValueError, StoreUnavailableError } from '../errors.js'
import { createLimiter } from '../limiter/index.js'
import { concurrency, type Decision, tokenBucket } from '../limits/index.js'
import { createPolicy } from '../policy/index.js'
import type { AsyncStore, OnFailure, Store, SyncStore } from '../stores/index.js'
import { FailingStore, type Failure } from './failing-store.js'

const limit = tokenBucket({ capacity: 6, refill: '1/h' })
const RULES: readonly OnFailure[] = ['open', 'closed', 'local']

function fail(): never {
  throw new Error('the store is unreachable')
}

/** The ways in which a store may fail. Each name continues the sentence “the store …”. */
const FAILURES: Readonly<Record<string, Failure>> = {
  throws: fail,
  rejects: () => Promise.reject(new Error('the store is unreachable')),
  'returns nothing': () => undefined,
  'returns an incomplete answer': () => ({ allowed: true, decisions: [{ allowed: true }], takenUs: [] }),
}

/** Runs a check for each way to fail and each rule, each time on an empty store. */
async function forEach(
  create: () => Promise<Store>,
  check: (store: Store, failure: Failure, rule: OnFailure, situation: string) => Promise<void>,
): Promise<void> {
  for (const [how, failure] of Object.entries(FAILURES))
    for (const rule of RULES) await check(await create(), failure, rule, `${rule}, when the store ${how}`)
}

/** Checks the answer of a rule to a request that the whole limit would admit. */
function checkRule(decision: Decision, rule: OnFailure, situation: string): void {
  assert.equal(decision.degraded, rule, situation)
  assert.equal(decision.allowed, rule !== 'closed', situation)
}

/**
 * The rules that limiters and policies keep when their store fails, each a sentence and a check. The checks put the store
 * behind a {@link FailingStore}.
 */
export const failureRules: Readonly<Record<string, (create: () => Promise<Store>) => Promise<void>>> = {
  'a limiter answers a failure by its own onFailure, and continues its limit after the failure': (create) =>
    forEach(create, async (inner, failure, onFailure, situation) => {
      const failing = new FailingStore(inner)
      const limiter = createLimiter({ name: 'test', limit, store: failing.store, onFailure })
      assert.equal((await limiter.tryAcquire('key', { cost: 2 })).degraded, undefined, situation)
      failing.failure = failure
      checkRule(await limiter.tryAcquire('key'), onFailure, situation)
      checkRule(await limiter.peek('key'), onFailure, situation)
      checkRule(await limiter.charge('key'), onFailure, situation)
      checkRule(await limiter.refund('key'), onFailure, situation)
      failing.failure = undefined
      const after = await limiter.peek('key')
      assert.deepEqual([after.remaining, after.degraded], [4, undefined], situation)
    }),
  'a limiter without onFailure answers a failure by the onFailure of the store': (create) =>
    forEach(create, async (inner, failure, onFailure, situation) => {
      const failing = new FailingStore(inner, { onFailure })
      const limiter = createLimiter({ name: 'test', limit, store: failing.store })
      failing.failure = failure
      checkRule(await limiter.tryAcquire('key'), onFailure, situation)
    }),
  'a failure is an error if neither the limiter nor the store has onFailure': async (create) => {
    for (const failure of Object.values(FAILURES)) {
      const failing = new FailingStore(await create())
      const limiter = createLimiter({ name: 'test', limit, store: failing.store })
      const policy = createPolicy({ name: 'test', levels: [{ name: 'all', limit }], store: failing.store })
      failing.failure = failure
      await assert.rejects(async () => await limiter.tryAcquire('key'))
      await assert.rejects(async () => await limiter.acquire('key'))
      await assert.rejects(async () => await policy.check({}))
    }
  },
  'a mistake of the caller is an error, whatever onFailure is': async (create) => {
    for (const onFailure of RULES) {
      const failing = new FailingStore(await create())
      const limiter = createLimiter({ name: 'test', limit, store: failing.store, onFailure })
      failing.failure = () => {
        throw new InvalidValueError('no such limit')
      }
      await assert.rejects(async () => await limiter.tryAcquire('key'), InvalidValueError)
    }
  },
  'a local answer counts against one share of the limit': async (create) => {
    const failing = new FailingStore(await create(), { instances: 3 })
    const limiter = createLimiter({ name: 'test', limit, store: failing.store, onFailure: 'local' })
    failing.failure = fail
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await limiter.tryAcquire('key'))
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [true, true, false, false],
    )
    assert.deepEqual([answers[0].quota, answers[0].remaining], [2, 1])
  },
  'a reservation that was made without the store refunds nothing to the store': async (create) => {
    for (const onFailure of ['open', 'local'] as const) {
      const failing = new FailingStore(await create())
      const limiter = createLimiter({ name: 'test', limit, store: failing.store, onFailure })
      await limiter.charge('key', { cost: 4 })
      failing.failure = fail
      const reservations = [await limiter.reserve('key', { cost: 2 }), await limiter.reserve('key', { cost: 2 })]
      for (const { decision } of reservations) checkRule(decision, onFailure, onFailure)
      await reservations[0].cancel()
      failing.failure = undefined
      await reservations[1].settle(1)
      assert.equal((await limiter.peek('key')).remaining, 2, onFailure)
    }
  },
  'units that the store gave stay taken if the refund fails': async (create) => {
    for (const onFailure of RULES) {
      const failing = new FailingStore(await create())
      const limiter = createLimiter({ name: 'test', limit, store: failing.store, onFailure })
      const reservation = await limiter.reserve('key', { cost: 2 })
      failing.failure = fail
      await reservation.cancel()
      failing.failure = undefined
      assert.equal((await limiter.peek('key')).remaining, 4, onFailure)
    }
  },
  'acquire and lease answer a failure by onFailure too': (create) =>
    forEach(create, async (inner, failure, onFailure, situation) => {
      const failing = new FailingStore(inner)
      const { store } = failing
      const units = createLimiter({ name: 'units', limit, store, onFailure })
      const places = createLimiter({ name: 'places', limit: concurrency({ max: 2, ttl: '1m' }), store, onFailure })
      failing.failure = failure
      const lease = await places.lease('key')
      checkRule(lease.decision, onFailure, situation)
      if (onFailure === 'closed') {
        await assert.rejects(units.acquire('key', { maxWaitMs: 0 }), { code: 'SLUICE_WAIT_TOO_LONG' }, situation)
        return
      }
      checkRule(await units.acquire('key'), onFailure, situation)
      assert.equal(await lease.extend(), true, situation)
      await lease.release()
      checkRule((await places.acquireLease('key', { cost: 2 })).decision, onFailure, situation)
    }),
  'each level of a policy answers a failure by its own onFailure': async (create) => {
    for (const failure of Object.values(FAILURES)) {
      const failing = new FailingStore(await create(), { onFailure: 'open' })
      const levels = [
        { name: 'one', key: 'ip', limit, onFailure: 'local' },
        { name: 'two', key: 'user', when: { user: 'strict' }, limit, onFailure: 'closed' },
        { name: 'three', limit: tokenBucket({ capacity: 1_000, refill: '1000/h' }) },
      ] as const
      const policy = createPolicy({ name: 'test', levels, store: failing.store })
      failing.failure = failure
      const open = await policy.check({ ip: '192.0.2.1', user: null })
      assert.deepEqual([open.allowed, open.degraded], [true, 'open'])
      const closed = await policy.check({ ip: '192.0.2.1', user: 'strict' })
      assert.deepEqual([closed.allowed, closed.deniedBy, closed.degraded], [false, ['two'], 'closed'])
      assert.deepEqual(
        closed.levels.map(({ decision }) => [decision.degraded, decision.remaining]),
        // The denied request took nothing from the local limit.
        [
          ['local', 5],
          ['closed', 0],
          ['open', 999],
        ],
      )
    }
  },
  'a blocked key stays blocked while the store fails, whatever onFailure is': async (create) => {
    for (const onFailure of RULES) {
      const failing = new FailingStore(await create())
      const limiter = createLimiter({ name: 'test', limit, store: failing.store, onFailure })
      await limiter.block('before', { duration: '1m' })
      failing.failure = fail
      await assert.rejects(async () => await limiter.block('during', { duration: '1m' }), StoreUnavailableError)
      await assert.rejects(async () => await limiter.reset('key'), StoreUnavailableError)
      await assert.rejects(async () => await limiter.set('key', { remaining: 0 }), StoreUnavailableError)
      for (const key of ['before', 'during']) {
        const decision = await limiter.tryAcquire(key)
        assert.deepEqual([decision.allowed, decision.degraded], [false, onFailure], key)
      }
    }
  },
}

/** Checks that a store that really fails answers by the rule of the limit. */
export async function checkOwnFailure(
  create: () => Promise<Store>,
  fail: (store: Store) => void | Promise<void>,
): Promise<void> {
  for (const onFailure of RULES) {
    const store = (await create()) as SyncStore | AsyncStore
    const limiter = createLimiter({ name: 'test', limit, store, onFailure })
    await fail(store)
    checkRule(await limiter.tryAcquire('key'), onFailure, onFailure)
    checkRule(await limiter.peek('key'), onFailure, onFailure)
    const reservation = await limiter.reserve('key', { cost: 2 })
    checkRule(reservation.decision, onFailure, onFailure)
    await reservation.cancel()
  }
}
