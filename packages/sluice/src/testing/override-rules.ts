import assert from 'node:assert/strict'
import { fixedWindow, type Limit, tokenBucket, unlimited } from '../limits/index.js'
import type { OverrideEntry, Overrides, Store } from '../stores/index.js'
import type { StoreRules } from './store-rules.js'

const one = [tokenBucket({ capacity: 1, refill: '1/s' })]
const two = [fixedWindow({ quota: 0, window: '1m' }), tokenBucket({ capacity: 2, refill: '2/s' }), unlimited()]

/** Texts that are the same key to no store, and that a store may take for something else. */
const KEYS = ['a', 'a/b', 'a|b', '{a}', '*', '#version', '__proto__', 'constructor', ' ', 'ä', 'x'.repeat(500)]

/** Runs a rule on the overrides of a policy. A store without `overrides` keeps it: its policies have none. */
function onOverrides(
  rule: (overrides: Overrides, clock: { now(): number; advance(ms: number): void }, store: Store) => Promise<void>,
): StoreRules[string] {
  return async (store, clock) => {
    const overrides = store.overrides?.('policy')
    if (overrides !== undefined) await rule(overrides, clock, store)
  }
}

async function listed(overrides: Overrides): Promise<readonly OverrideEntry[]> {
  assert.equal(await overrides.refresh(), true)
  const place = ({ level, key }: OverrideEntry) => JSON.stringify([level, key])
  return [...overrides.entries()].sort((a, b) => (place(a) < place(b) ? -1 : 1))
}

function entry(level: string, key: string, limits: readonly Limit[], untilMs = Infinity): OverrideEntry {
  return { level, key, limits, untilMs }
}

/** The rules for run-time overrides. */
export const overrideRules: StoreRules = {
  'an override applies to its level and key only, and a later one replaces it': onOverrides(async (overrides) => {
    await overrides.set('user', 'a', one, undefined)
    assert.deepEqual(overrides.get('user', 'a'), one)
    assert.equal(overrides.get('user', 'b'), undefined)
    assert.equal(overrides.get('other', 'a'), undefined)
    await overrides.set('user', 'a', two, undefined)
    assert.deepEqual(overrides.get('user', 'a'), two)
    assert.deepEqual(await listed(overrides), [entry('user', 'a', two)])
  }),
  'the list of overrides has every level, key, list of limits and end': onOverrides(async (overrides, clock) => {
    const untilMs = clock.now() + 60_000
    assert.deepEqual(await listed(overrides), [])
    for (const key of KEYS) await overrides.set('user', key, one, undefined)
    await overrides.set('ip', 'a', two, untilMs)
    const users = [...KEYS].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    assert.deepEqual(await listed(overrides), [
      entry('ip', 'a', two, untilMs),
      ...users.map((key) => entry('user', key, one)),
    ])
  }),
  'an override that has ended or was removed is neither found nor listed': onOverrides(async (overrides, clock) => {
    await overrides.set('user', 'ends', one, clock.now() + 1_000)
    await overrides.set('user', 'removed', one, undefined)
    await overrides.set('user', 'stays', one, clock.now() + 1_001)
    await overrides.set('user', 'removed', undefined, undefined)
    await overrides.set('user', 'never set', undefined, undefined)
    clock.advance(1_000)
    for (const key of ['ends', 'removed']) assert.equal(overrides.get('user', key), undefined, key)
    assert.deepEqual(
      (await listed(overrides)).map(({ key }) => key),
      ['stays'],
    )
  }),
  'policies of other names have other overrides, and the same name has the same': onOverrides(
    async (overrides, _, store) => {
      await overrides.set('user', 'a', one, undefined)
      assert.deepEqual(await listed(store.overrides?.('other policy') as Overrides), [])
      assert.deepEqual(await listed(store.overrides?.('policy') as Overrides), [entry('user', 'a', one)])
    },
  ),
}
