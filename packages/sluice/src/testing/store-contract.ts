import assert from 'node:assert/strict'
import type { Limit } from '../limits/index.js'
import type { Store } from '../stores/index.js'
import { blockRules } from './block-rules.js'
import { changeRules } from './change-rules.js'
import { checkTrace } from './check-trace.js'
import { type ContractExemptions, isAccepted } from './contract-exemptions.js'
import { extremeRules } from './extreme-rules.js'
import { checkOwnFailure, failureRules } from './failure-rules.js'
import { ManualClock } from './manual-clock.js'
import { overrideRules } from './override-rules.js'
import { peekRules } from './peek-rules.js'
import { reservationRules } from './reservation-rules.js'
import { type StoreRules, storeRules } from './store-rules.js'
import { type WorkedExample, workedExamples } from './worked-examples.js'

/** Makes an empty store that reads the given clock. */
export type StoreFactory = (clock: ManualClock) => Store | Promise<Store>

/** One rule that every store keeps. Its name is a sentence. */
export interface ContractCase {
  readonly name: string
  readonly run: () => Promise<void>
}

/** Options of the contract. */
export interface ContractOptions {
  /** How many random series of calls are compared with the reference. Default 200. */
  readonly traces?: number
  /**
   * Makes a store fail from now on, as an outage does. If it is given, the contract also checks the answers to the store's
   * own failures. The other cases make a store in front of it fail.
   */
  readonly fail?: (store: Store) => void | Promise<void>
  /** What the store does not do. Default: it does everything. */
  readonly exempt?: ContractExemptions
}

const TRACES_AT_A_TIME = 16
const START = 1_745_000_100_000

/**
 * The rules that every store keeps, as cases for any test runner.
 *
 * @example
 * ```ts
 * import { test } from 'node:test'
 * import { memoryStore } from 'sluice'
 * import { storeContract } from 'sluice/testing'
 *
 * for (const { name, run } of storeContract((clock) => memoryStore({ clock }))) test(name, run)
 * ```
 */
export function storeContract(
  create: StoreFactory,
  { traces = 200, fail, exempt = {} }: ContractOptions = {},
): readonly ContractCase[] {
  const fresh = async () => create(new ManualClock(START))
  const accepts = (limit: Limit) => isAccepted(limit, exempt)
  const check = async (rule: StoreRules[string], applies: (store: Store) => boolean = () => true) => {
    const clock = new ManualClock(START)
    const store = await create(clock)
    if (applies(store)) await rule(store, clock, accepts)
  }
  return [
    ...workedExamples
      .filter(({ limit }) => accepts(limit))
      .map((example) => ({ name: example.name, run: () => checkExample(create, example) })),
    ...Object.entries({
      ...storeRules,
      ...peekRules,
      ...(exempt.changedNumbers !== true && changeRules),
      ...extremeRules,
      ...overrideRules,
    }).map(([name, rule]) => ({
      name,
      run: () => check(rule),
    })),
    ...Object.entries(blockRules).map(([name, rule]) => ({
      name,
      run: () => check(rule, ({ blocksByRule }) => blocksByRule === true),
    })),
    ...Object.entries(reservationRules).map(([name, rule]) => ({
      name,
      // A store that neither keeps reservations nor has its clock here leaves them to this process and its own clock.
      run: () => check(rule, ({ reservations, clock }) => reservations !== undefined || clock !== undefined),
    })),
    ...Object.entries(failureRules).map(([name, rule]) => ({ name, run: () => rule(fresh) })),
    ...(fail === undefined
      ? []
      : [
          { name: 'a limiter answers the failures of the store by onFailure', run: () => checkOwnFailure(fresh, fail) },
        ]),
    {
      name: `a store answers ${traces} random series of calls as the reference does, to the last digit`,
      run: async () => {
        // A few at a time, so that a remote store answers one series while calls of another are under way.
        for (let first = 1; first <= traces; first += TRACES_AT_A_TIME) {
          const seeds = Array.from({ length: Math.min(TRACES_AT_A_TIME, traces - first + 1) }, (_, i) => first + i)
          await Promise.all(seeds.map((seed) => checkTrace(create, seed, { exempt })))
        }
      },
    },
    {
      name: `a store answers ${Math.ceil(traces / 2)} random series of calls as the reference does, with limits that block keys`,
      run: async () => {
        if ((await fresh()).blocksByRule !== true) return
        for (let seed = 1; seed <= traces / 2; seed++) await checkTrace(create, seed, { blocks: true, exempt })
      },
    },
  ]
}

async function checkExample(create: StoreFactory, { limit, startMs, steps }: WorkedExample): Promise<void> {
  const clock = new ManualClock(startMs)
  const store = await create(clock)
  for (const step of steps) {
    clock.advance(startMs + step.atMs - clock.now())
    let allowed = 0
    let lastDelayMs = 0
    for (let i = 1; i <= (step.requests ?? 1); i++) {
      const [decision] = (await store.decide([{ name: 'test', limit, key: 'key', cost: 1 }])).decisions
      if (decision.allowed) {
        allowed++
        lastDelayMs = decision.delayMs
      }
      if (i < (step.requests ?? 1)) continue
      if (step.remaining !== undefined) assert.equal(decision.remaining, step.remaining, `remaining at ${step.atMs} ms`)
      if (step.retryAfterMs !== undefined) assert.equal(decision.retryAfterMs, step.retryAfterMs, `at ${step.atMs} ms`)
    }
    assert.equal(allowed, step.allowed, `allowed at ${step.atMs} ms`)
    if (step.delayMs !== undefined) assert.equal(lastDelayMs, step.delayMs, `delay at ${step.atMs} ms`)
  }
}
