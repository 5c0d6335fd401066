import fc from 'fast-check'
import type { ManualClock } from 'sluice/testing'
import { expect } from 'vitest'
import type { AsyncLimiter, Limiter } from '../../src/index.js'

export const QUOTA = 1_000
/** Taken at the start, so that units given back twice would show. */
const TAKEN = 500

/** One thing that a process does. `by` chooses the process. */
export type Deed =
  | {
      readonly kind: 'reserve'
      readonly id: string
      readonly cost: number
      readonly ttlMs: number
      readonly by: number
    }
  | { readonly kind: 'settle'; readonly id: string; readonly actual: number; readonly by: number }
  | { readonly kind: 'cancel'; readonly id: string; readonly by: number }
  | { readonly kind: 'advance'; readonly ms: number; readonly by: number }

const id = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', '{x}')
const by = fc.nat(1)

export const deeds: fc.Arbitrary<readonly Deed[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('reserve' as const),
      id,
      cost: fc.constantFrom(0, 1, 7, 7, 7, 200, 501),
      ttlMs: fc.constantFrom(1, 1_000, 1_000, 60_000),
      by,
    }),
    fc.record({ kind: fc.constant('settle' as const), id, actual: fc.integer({ min: 0, max: 20 }), by }),
    fc.record({ kind: fc.constant('cancel' as const), id, by }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 500, 999, 1_000, 60_000), by }),
  ),
  { maxLength: 40 },
)

/** Plays deeds on limiters that share a store, and on a model: a map of what is open, and a sum. They must agree. */
export async function playDeeds(
  limiters: readonly (Limiter | AsyncLimiter)[],
  sweeps: readonly (() => unknown)[],
  clock: ManualClock,
  list: readonly Deed[],
): Promise<void> {
  const open = new Map<string, { cost: number; endsMs: number }>()
  let settled = TAKEN
  const held = () => [...open.values()].reduce((sum, { cost }) => sum + cost, settled)
  const end = (which: string, actual: number) => {
    const isOpen = open.delete(which)
    if (isOpen) settled += actual
    return isOpen
  }
  await limiters[0].charge('key', { cost: TAKEN })
  for (const deed of list) {
    const limiter = limiters[deed.by % limiters.length]
    if (deed.kind === 'advance') {
      clock.advance(deed.ms)
      for (const [which, { endsMs }] of open) if (endsMs <= clock.now()) open.delete(which)
      await sweeps[deed.by % sweeps.length]()
    } else if (deed.kind === 'reserve') {
      const { cost, ttlMs } = deed
      const earlier = open.get(deed.id)
      const reserve = async () => limiter.reserve('key', { cost, ttl: `${ttlMs}ms`, id: deed.id })
      if (earlier !== undefined && earlier.cost !== cost) {
        await expect(reserve()).rejects.toMatchObject({ code: 'SLUICE_INVALID_VALUE', option: 'id' })
      } else {
        const { decision, endsAtMs } = await reserve()
        const allowed = earlier !== undefined || held() + cost <= QUOTA
        expect(decision.allowed).toBe(allowed)
        if (allowed && earlier === undefined) open.set(deed.id, { cost, endsMs: clock.now() + ttlMs })
        expect(endsAtMs).toBe(open.get(deed.id)?.endsMs)
      }
    } else if (deed.kind === 'settle') {
      expect(await limiter.settle(deed.id, deed.actual)).toBe(end(deed.id, deed.actual))
    } else expect(await limiter.cancel(deed.id)).toBe(end(deed.id, 0))
    // A debt is shown as nothing left.
    expect((await limiters[0].peek('key')).remaining).toBe(Math.max(0, QUOTA - held()))
  }
}
