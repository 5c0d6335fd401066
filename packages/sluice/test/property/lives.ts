/** Random lives of a key: series of calls of all kinds, after which a test checks a law. */
import fc, { type Arbitrary } from 'fast-check'
import { createLimiter, type Decision, type Limiter, type MemoryStore, memoryStore } from 'sluice'
import { type LimitCase, type RawStep, rawSteps, starts, startUs, stepCost, stepUs } from './arbitraries.js'
import { ExactClock } from './asking.js'

type Deed = 'acquire' | 'charge' | 'refund' | 'block' | 'change' | 'reset' | 'reserve'

const DEEDS: readonly Deed[] = ['acquire', 'acquire', 'acquire', 'acquire', 'charge', 'refund', 'reserve', 'reset']

/** Two limits of one algorithm, between which a deploy may switch, and a series of calls. */
export interface Life {
  readonly before: LimitCase
  readonly after: LimitCase
  readonly start: { readonly us: bigint; readonly aligned: boolean }
  readonly steps: readonly (RawStep & { readonly deed: Deed })[]
}

/** A key after its life, and the limit that is in use now. */
export interface Lived {
  readonly clock: ExactClock
  readonly store: MemoryStore
  readonly limiter: Limiter
  readonly given: LimitCase
}

export const KEY = 'key'

interface LifeOptions {
  /** May the clock step back? Default true. */
  readonly back?: boolean
  /** May there be debts, blocks and changed limits? Default true. */
  readonly troubled?: boolean
}

export function lives(limits: Arbitrary<LimitCase>, { back = true, troubled = true }: LifeOptions = {}) {
  const deeds = troubled ? [...DEEDS, 'block' as const, 'change' as const] : DEEDS.filter((deed) => deed !== 'charge')
  return fc
    .record({
      before: limits,
      after: limits,
      start: starts,
      steps: rawSteps(back, 12),
      deeds: fc.array(fc.constantFrom(...deeds), { minLength: 12, maxLength: 12 }),
    })
    .map(
      ({ steps, deeds, ...life }): Life => ({ ...life, steps: steps.map((step, i) => ({ ...step, deed: deeds[i] })) }),
    )
}

/** Makes the calls of a life. Passes each decision to `see`, with its cost and limit. */
export function live(
  { before, after, start, steps }: Life,
  see: (decision: Decision, cost: number, given: LimitCase) => void = () => {},
): Lived {
  const clock = new ExactClock(startUs(start, before))
  const store = memoryStore({ clock })
  const limiterOf = ({ limit }: LimitCase) => createLimiter({ name: 'life', limit, store })
  let given = before
  let limiter = limiterOf(given)
  for (const step of steps) {
    clock.us += stepUs(step, given)
    if (clock.us < 0n) clock.us = 0n
    clock.noiseUs = step.noiseUs
    const cost = stepCost(step, given)
    if (step.deed === 'acquire') see(limiter.tryAcquire(KEY, { cost }), cost, given)
    else if (step.deed === 'charge') see(limiter.charge(KEY, { cost }), 1, given)
    else if (step.deed === 'refund') see(limiter.refund(KEY, { cost }), 1, given)
    else if (step.deed === 'block') limiter.block(KEY, { duration: `${1 + step.share}ms` })
    else if (step.deed === 'reset') limiter.reset(KEY)
    else if (step.deed === 'reserve') {
      const reservation = limiter.reserve(KEY, { cost })
      see(reservation.decision, cost, given)
      reservation.settle(Math.floor((cost * step.share) / 500))
    } else {
      given = given === before ? after : before
      limiter = limiterOf(given)
      // The limit that wrote last says when a state is whole, so its waits are exact once it has written.
      limiter.charge(KEY, { cost: 1 })
    }
    see(limiter.peek(KEY), 1, given)
    see(limiter.peek(KEY, { cost: 0 }), 0, given)
  }
  return { clock, store, limiter, given }
}
