/** Random policies and requests, from a seed. Quotas are small and windows are seconds, so that much is denied. */
import {
  concurrency,
  fixedWindow,
  type Level,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  type When,
} from '../../../src/index.js'
import { type LimitCase, windowCase } from '../../property/arbitraries.js'

/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 up to 1. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, both ends included. */
  from(least: number, most: number): number {
    return least + Math.floor(this.roll() * (most - least + 1))
  }

  chance(share: number): boolean {
    return this.roll() < share
  }

  of<T>(all: readonly T[]): T {
    return all[this.from(0, all.length - 1)]
  }
}

/** Two spellings of the first address; the others are different ones. */
export const ADDRESSES: Readonly<Record<string, string>> = {
  '10.0.0.1': 'first',
  '::ffff:10.0.0.1': 'first',
  '10.0.0.2': 'second',
  '192.0.2.1': 'third',
}

/** A type and no interface, which could have more attributes than it says. */
export type RandomRequest = {
  readonly user: string | null
  readonly plan: string | null
  readonly method: string
  readonly path: string
  readonly ip: string
  readonly tokens: number | null
}

export function randomRequest(dice: Dice): RandomRequest {
  return {
    user: dice.of(['u0', 'u1', 'u2', null]),
    plan: dice.of(['free', 'pro', null]),
    method: dice.of(['GET', 'POST', 'post']),
    path: dice.of(['/a', '/a/1', '/a/1?q', '/b']),
    ip: dice.of(Object.keys(ADDRESSES)),
    tokens: dice.of([0, 1, 2, 3, null]),
  }
}

const WHENS: readonly When[] = [
  { plan: 'free' },
  { plan: ['free', null] },
  { plan: { not: 'pro' } },
  { path: '/a/**' },
  { path: '/a/:id', method: 'POST' },
  { method: 'POST' },
  { user: null },
  { user: { present: true } },
  { ip: '10.0.0.0/8' },
]
/** Of what is in the key: the limits are those of the key. With anything else, one key has now these and now those. */
const OVERRIDDEN: Readonly<Record<string, readonly When[]>> = {
  user: [{ user: 'u1' }, { user: ['u0', 'u2'] }],
  ip: [{ ip: '10.0.0.1' }, { ip: '10.0.0.0/8' }],
  plan: [{ plan: 'pro' }],
}
const KEYS: readonly (readonly string[])[] = [[], ['user'], ['user'], ['ip'], ['user', 'plan'], ['ip', 'user']]

/** A limit, with its numbers as the exact models want them. */
export function randomLimit(dice: Dice, onlyTokenBuckets = false): LimitCase {
  const quota = dice.from(1, 12)
  const windowMs = dice.of([250, 1_000, 3_000, 7_777])
  const [window, windowUs] = [`${windowMs}ms` as const, BigInt(windowMs) * 1_000n]
  const [units, perMs] = [dice.from(1, 9), dice.of([333, 1_000, 2_000, 10_000])]
  const rate = { text: `${units}/${perMs}ms` as const, units: BigInt(units), perUs: BigInt(perMs) * 1_000n }
  const bucket = { quota: BigInt(quota), rate, windowUs: 1n, slices: 1n, alignFirst: false, scaleUs: 1n }
  const align = dice.of(['epoch', 'first'] as const)
  const slices = dice.of([1, 2, 5, 10])
  switch (onlyTokenBuckets ? 1 : dice.from(1, 7)) {
    case 1:
    case 2:
      return { limit: tokenBucket({ capacity: quota, refill: rate.text }), ...bucket }
    case 3:
      return { limit: leakyBucket({ capacity: quota, drain: rate.text }), ...bucket }
    case 4:
      return windowCase(fixedWindow({ quota, window, align }), quota, windowUs, 1, align)
    case 5:
      return windowCase(slidingWindow({ quota, window, slices, align }), quota, windowUs, slices, align)
    case 6:
      return windowCase(concurrency({ max: quota, ttl: window }), quota, windowUs, 1, 'epoch')
    default:
      return windowCase(slidingLog({ quota, window }), quota, windowUs, 1, 'epoch')
  }
}

/** Levels, and the case of every limit that they name, by its JSON. */
export function randomLevels(dice: Dice) {
  const cases = new Map<string, LimitCase>()
  // Redis has a shorter way for policies of nothing else.
  const onlyTokenBuckets = dice.chance(0.25)
  const limits = () =>
    Array.from({ length: dice.chance(0.7) ? 1 : dice.from(2, 3) }, () => {
      const made = randomLimit(dice, onlyTokenBuckets)
      cases.set(JSON.stringify(made.limit), made)
      return made.limit
    })
  const levels = Array.from({ length: dice.from(1, 5) }, (_, i): Level => {
    const key = dice.of(KEYS)
    // No two lists of a level are the same, so that a verdict tells which is in force.
    const used = new Set<string>()
    const otherLimits = () => {
      for (;;) {
        const made = limits()
        if (!used.has(JSON.stringify(made))) {
          used.add(JSON.stringify(made))
          return made
        }
      }
    }
    const overrides = Array.from({ length: dice.chance(0.5) ? 0 : dice.from(1, 3) }, () => ({
      when: key.length > 0 && dice.chance(0.5) ? dice.of(OVERRIDDEN[dice.of(key)]) : dice.of(WHENS),
      limit: otherLimits(),
    }))
    return {
      name: `level-${5 - i}`,
      key,
      limit: otherLimits(),
      overrides,
      shadow: dice.chance(0.2),
      ...(dice.chance(0.5) && { when: dice.of(WHENS) }),
      ...(dice.chance(0.4) && { cost: dice.of([1, 2, 'tokens']) }),
    }
  })
  return { levels, cases }
}
