import assert from 'node:assert/strict'
import type { Limit, Taken } from '../limits/index.js'
import type { Answer, Store } from '../stores/index.js'
import type { ContractExemptions } from './contract-exemptions.js'
import { ManualClock } from './manual-clock.js'
import { randomTrace, type TraceStep } from './random-trace.js'
import { ReferenceStore } from './reference-store.js'

const START = 1_745_000_100_000
const STEPS = 60

interface TraceOptions {
  readonly isExact?: boolean
  readonly blocks?: boolean
  /** What the store does not do. */
  readonly exempt?: ContractExemptions
}

/**
 * Makes one random series of calls to a store and to the reference, and compares every answer.
 *
 * A store may forget a state once it is whole, and may keep it longer. This shows when the clock steps back, and when
 * two versions of a limit are in use. So both stores forget whole states before such calls. With `isExact` they do so
 * before steps back only: the store must treat a state as gone from the microsecond at which it is whole for the limit
 * that wrote it last. If the series `blocks`, most limits block keys that exceed.
 */
export async function checkTrace(
  create: (clock: ManualClock) => Store | Promise<Store>,
  seed: number,
  { isExact = false, blocks = false, exempt = {} }: TraceOptions = {},
): Promise<void> {
  const clock = new ManualClock(START + seed * 1_234.567)
  const store = await create(clock)
  const reference = new ReferenceStore(clock)
  const taken = new Map<Limit, Taken>()
  const forgetWhole = async () => {
    for (const { name, key } of reference.forgettable()) {
      await store.reset(name, key)
      reference.reset(name, key)
    }
  }
  const steps = randomTrace(seed, STEPS, blocks, exempt)
  // Limiters and policies do this too, before the first demand: so `block` and `reset` know all states of a name.
  for (const { demands } of steps) for (const demand of demands) store.prepare?.(demand)
  for (const [index, step] of steps.entries()) {
    if (exempt.newestSlot === true && refundsNewestSlot(step, taken)) continue
    if (step.advanceMs < 0 || (step.call === 'change' && !isExact)) await forgetWhole()
    clock.advance(step.advanceMs)
    if (step.mixed === true && !isExact) await forgetWhole()
    const [actual, expected] = [await call(store, step, taken), await call(reference, step, taken)]
    assert.deepEqual(actual, expected, `series ${seed}, call ${index}: ${JSON.stringify(step)}`)
    if (step.call !== 'decide') continue
    const { allowed, decisions, takenUs } = expected as Answer
    const [{ limit, cost }] = step.demands
    if (allowed) taken.set(limit, { atUs: takenUs[0], cost, delayMs: decisions[0].delayMs })
  }
}

function refundsNewestSlot({ call, demands: [{ limit }] }: TraceStep, taken: ReadonlyMap<Limit, Taken>): boolean {
  if (limit.algorithm !== 'leaky-bucket') return false
  return call === 'refund' || (call === 'refundTaken' && !taken.has(limit))
}

async function call(
  store: Store,
  { call, demands, durationUs, remaining }: TraceStep,
  taken: ReadonlyMap<Limit, Taken>,
): Promise<unknown> {
  const [first] = demands
  switch (call) {
    case 'decide':
      return comparable(await store.decide(demands), demands)
    case 'peek': {
      const { allowed, decisions } = await store.peek(demands)
      return { allowed, decisions }
    }
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
    case 'set':
      return store.set(first, remaining)
    case 'reset':
      return store.reset(first.name, first.key)
    case 'block':
      return store.block(first.name, first.key, durationUs)
  }
}

/** An answer with a time of 0 for each demand that took nothing, because such times mean nothing. */
function comparable({ allowed, decisions, takenUs }: Answer, demands: TraceStep['demands']): Answer {
  const isTaken = (i: number) => allowed && decisions[i].allowed && demands[i].cost > 0
  return { allowed, decisions, takenUs: takenUs.map((us, i) => (isTaken(i) ? us : 0)) }
}
