import assert from 'node:assert/strict'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type AsyncPolicyReservation,
  createPolicy,
  type Level,
  type Limit,
  memoryStore,
  type PolicyReservation,
} from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'
import { Dice, randomLevels, randomLimit, randomRequest } from './random-policies.js'

const POLICIES = 60
const DEEDS = 60

let processes: Processes
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())

it.each([11, 12, 13])('whatever is done to random policies, memory and Redis stay the same (seed %i)', async (seed) => {
  const dice = new Dice(seed)
  for (let i = 0; i < POLICIES; i++) await live(dice, `seed ${seed}, policy ${i}`)
  expect.assertions(0)
})

async function live(dice: Dice, title: string): Promise<void> {
  const clock = new ManualClock(Date.UTC(2026, 0, 1) + dice.from(0, 100_000))
  const { levels } = randomLevels(dice)
  const inMemory = createPolicy({ name: 'random', levels, store: memoryStore({ clock }) })
  const inRedis = createPolicy({ name: 'random', levels, store: processes.store(clock, `${title}:`) })
  const others = new Map(levels.map((level) => [level.name, otherLimit(dice, level)]))
  const open: { one: PolicyReservation; two: AsyncPolicyReservation }[] = []
  const done: string[] = []
  for (let i = 0; i < DEEDS; i++) {
    clock.advance(dice.of([0, 0, 1, 17.123, 100, 333, dice.from(0, 1_500)]))
    const request = randomRequest(dice)
    const cost = dice.of([0, 1, 1, 2, 3])
    const level = dice.of(levels)
    const deed = dice.of(['check', 'check', 'reserve', 'reserve', 'settle', 'charge', 'refund', 'reset', 'override'])
    done.push(`${deed} ${cost} of ${JSON.stringify(request)} at ${clock.now()}`)
    if (deed === 'check' || deed === 'charge' || deed === 'refund') {
      const one = inMemory[deed](request, { cost })
      assert.deepStrictEqual(await inRedis[deed](request, { cost }), one, said())
    } else if (deed === 'reserve') {
      const one = inMemory.reserve(request, { cost })
      const two = await inRedis.reserve(request, { cost })
      assert.deepStrictEqual(two.verdict, one.verdict, said())
      open.push({ one, two })
    } else if (deed === 'settle' && open.length > 0) {
      // Not always one that is still open: then nothing must happen, in both.
      const { one, two } = dice.of(open)
      const tokens = inMemory.attributes.includes('tokens') ? [{ tokens: 0 }, { tokens: 4 }] : [0, 4]
      const actual = dice.of([0, 1, 2, 5, ...tokens, undefined])
      if (actual === undefined) {
        one.cancel()
        await two.cancel()
      } else {
        // If no level would count a number, both refuse it.
        const settle = async (side: typeof one | typeof two) => side.settle(actual as number)
        const [first, second] = await Promise.allSettled([settle(one), settle(two)])
        assert.deepStrictEqual(second, first, said())
      }
    } else if (deed === 'reset') {
      inMemory.reset(request, { levels: [level.name] })
      await inRedis.reset(request, { levels: [level.name] })
    } else if (deed === 'override') {
      const key = (level.key as readonly (keyof typeof request)[]).map((part) => request[part] ?? 'u0')
      const limit = others.get(level.name)
      const until = dice.of([undefined, clock.now() + 700])
      if (limit === undefined || dice.chance(0.4)) {
        inMemory.removeOverride(level.name, key)
        await inRedis.removeOverride(level.name, key)
      } else {
        inMemory.override(level.name, key, limit, { until } as object)
        await inRedis.override(level.name, key, limit, { until } as object)
      }
    }
    assert.deepStrictEqual(await inRedis.peek(request), inMemory.peek(request), said())
  }

  function said(): string {
    return `${title}: ${JSON.stringify(levels)}\n${done.join('\n')}`
  }
}

/** A limit that shares no state with the level's own: under other numbers, a store may have forgotten what is whole. */
function otherLimit(dice: Dice, { limit, overrides = [] }: Level): Limit | undefined {
  const used = [limit, ...overrides.map((override) => override.limit)].flat() as readonly Limit[]
  for (let attempt = 0; attempt < 50; attempt++) {
    const other = randomLimit(dice).limit
    if (used.every(({ algorithm }) => algorithm !== other.algorithm)) return other
  }
  return undefined
}
