import assert from 'node:assert/strict'
import type { Limit } from '../limits/index.js'
import type { Answer, Store } from '../stores/index.js'
import { checkOwnFailure, FAILURE_RULES } from './failure-rules.js'
import { ManualClock } from './manual-clock.js'
import { randomTrace, type TraceStep } from './random-trace.js'
import { ReferenceStore } from './reference-store.js'
import { STORE_RULES } from './store-rules.js'
import { type WorkedExample, workedExamples } from './worked-examples.js'

/** Makes an empty store that tells time by the given clock. */
export type StoreFactory = (clock: ManualClock) => Store | Promise<Store>

/** One thing that every store does, with a name that is a sentence. */
export interface ContractCase {
  readonly name: string
  readonly run: () => Promise<void>
}

/** What the contract may be told. */
export interface ContractOptions {
  /** How many random series of calls are compared with the reference. Default 200. */
  readonly traces?: number
  /**
   * Makes a store fail from now on, as an outage would. With it, the contract also checks how the store's own failures are
   * answered; without it, failures are put in front of the store.
   */
  readonly fail?: (store: Store) => void | Promise<void>
}

const TRACES_AT_A_TIME = 16
const START = 1_745_000_100_000

/**
 * What every store keeps, as cases for any test runner.
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
  { traces = 200, fail }: ContractOptions = {},
): readonly ContractCase[] {
  const fresh = async () => create(new ManualClock(START))
  return [
    ...workedExamples.map((example) => ({ name: example.name, run: () => checkExample(create, example) })),
    ...Object.entries(STORE_RULES).map(([name, rule]) => ({
      name,
      run: async () => {
        const clock = new ManualClock(START)
        await rule(await create(clock), clock)
      },
    })),
    ...Object.entries(FAILURE_RULES).map(([name, rule]) => ({ name, run: () => rule(fresh) })),
    ...(fail === undefined
      ? []
      : [{ name: 'its own failures are answered by onFailure', run: () => checkOwnFailure(fresh, fail) }]),
    {
      name: `answers ${traces} random series of calls as the reference does, to the last digit`,
      run: async () => {
        // A few at a time: a store that lives elsewhere answers one while another is on its way.
        for (let first = 1; first <= traces; first += TRACES_AT_A_TIME) {
          const seeds = Array.from({ length: Math.min(TRACES_AT_A_TIME, traces - first + 1) }, (_, i) => first + i)
          await Promise.all(seeds.map((seed) => checkTrace(create, seed)))
        }
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

async function checkTrace(create: StoreFactory, seed: number): Promise<void> {
  const clock = new ManualClock(START + seed * 1_234.567)
  const store = await create(clock)
  const reference = new ReferenceStore(clock)
  const taken = new Map<Limit, { atUs: number; cost: number; delayMs: number }>()
  const steps = randomTrace(seed, 60)
  // A store is told of each limit before its first use, so that `block` and `reset` know all states of a name.
  for (const { demands } of steps) for (const demand of demands) store.prepare?.(demand)
  for (const [index, step] of steps.entries()) {
    const forget = async () => {
      for (const { name, key } of reference.forgettable()) {
        await store.reset(name, key)
        reference.reset(name, key)
      }
    }
    if (step.advanceMs < 0 || step.call === 'change') await forget()
    clock.advance(step.advanceMs)
    if (step.mixed === true) await forget()
    const [actual, expected] = [await call(store, step, taken), await call(reference, step, taken)]
    assert.deepEqual(actual, expected, `series ${seed}, call ${index}: ${JSON.stringify(step)}`)
    const decided = expected as
      | { allowed?: boolean; takenUs: readonly number[]; decisions: readonly { delayMs: number }[] }
      | undefined
    if (step.call === 'decide' && decided?.allowed) {
      const [{ limit, cost }] = step.demands
      taken.set(limit, { atUs: decided.takenUs[0], cost, delayMs: decided.decisions[0].delayMs })
    }
  }
}

/** An answer without the times of what was not taken, which mean nothing. */
function comparable({ allowed, decisions, takenUs }: Answer, demands: TraceStep['demands']): Answer {
  const isTaken = (i: number) => allowed && decisions[i].allowed && demands[i].cost > 0
  return { allowed, decisions, takenUs: takenUs.map((us, i) => (isTaken(i) ? us : 0)) }
}

async function call(
  store: Store,
  { call, demands, durationUs }: TraceStep,
  taken: ReadonlyMap<Limit, { atUs: number; cost: number; delayMs: number }>,
): Promise<unknown> {
  const [first] = demands
  switch (call) {
    case 'decide':
      return comparable(await store.decide(demands), demands)
    case 'charge':
      return store.charge(first)
    case 'change': {
      const answers = []
      for (const demand of demands) answers.push(await store.charge(demand))
      return answers
    }
    case 'refund':
      return store.refund(first, undefined)
    case 'refundTaken':
      return store.refund(first, taken.get(first.limit))
    case 'reset':
      return store.reset(first.name, first.key)
    case 'block':
      return store.block(first.name, first.key, durationUs)
  }
}
