import fc from 'fast-check'
import type { AsyncLease, AsyncLimiter, Lease, Limiter } from 'sluice'
import type { ManualClock } from 'sluice/testing'
import { expect } from 'vitest'

/** The acts of holders, one after the other. `which` chooses among earlier leases. */
export type Act =
  | { readonly act: 'take'; readonly cost: number }
  | { readonly act: 'release' | 'extend'; readonly which: number }
  | { readonly act: 'wait'; readonly ms: number }

export const TTL_MS = 1_000

const which = fc.nat(30)
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ act: fc.constant('take' as const), cost: fc.constantFrom(1, 1, 1, 2, 3) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('release' as const), which }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('extend' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('wait' as const),
      ms: fc.oneof(fc.nat(400), fc.constantFrom(0, 0.001, 999, 999.999, 1_000, 1_000.001)),
    }),
  },
)

export const lives = fc.record({
  max: fc.integer({ min: 1, max: 6 }),
  acts: fc.array(act, { minLength: 1, maxLength: 60, size: 'max' }),
})

interface Holder {
  readonly lease: Lease | AsyncLease
  readonly cost: number
  endsMs: number
}

/**
 * Plays what holders do on limiters that share a store, and compares it with a plain list of holders and end times. A
 * holder is let in exactly if it fits, and no holder loses its place to another.
 */
export async function playLives(
  limiters: readonly (Limiter | AsyncLimiter)[],
  clock: ManualClock,
  { max, acts }: { readonly max: number; readonly acts: readonly Act[] },
): Promise<void> {
  const holders: Holder[] = []
  const inFlight = () => holders.reduce((sum, { cost, endsMs }) => sum + (endsMs > clock.now() ? cost : 0), 0)
  for (const [i, each] of acts.entries()) {
    if (each.act === 'wait') clock.advance(each.ms)
    else if (each.act === 'take') {
      const fits = inFlight() + each.cost <= max
      const lease = await limiters[i % limiters.length].lease('key', { cost: each.cost })
      expect(lease.allowed).toBe(fits)
      if (fits) holders.push({ lease, cost: each.cost, endsMs: clock.now() + TTL_MS })
    } else if (holders.length > 0) {
      const holder = holders[each.which % holders.length]
      const isLive = holder.endsMs > clock.now()
      if (each.act === 'release') {
        await holder.lease.release()
        holder.endsMs = 0
      } else {
        expect(await holder.lease.extend()).toBe(isLive)
        holder.endsMs = isLive ? clock.now() + TTL_MS : 0
      }
    }
    const { remaining } = await limiters[0].peek('key')
    expect(inFlight()).toBeLessThanOrEqual(max)
    expect(remaining).toBe(max - inFlight())
  }
}
