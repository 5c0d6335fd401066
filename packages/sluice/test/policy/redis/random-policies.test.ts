import assert from 'node:assert/strict'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPolicy, memoryStore } from '../../../src/index.js'
import { LevelLaws } from './level-laws.js'
import { type Processes, startProcesses } from './processes.js'
import { Dice, randomLevels, randomRequest } from './random-policies.js'

const SEEDS = [1, 2, 3, 4, 5]
const POLICIES = 50
const REQUESTS = 50

let processes: Processes
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())

it.each(SEEDS)(
  'random requests against random policies: memory and Redis agree, denials change nothing, every level keeps its law (seed %i)',
  async (seed) => {
    const dice = new Dice(seed)
    const seen = { allowed: 0, denied: 0, checked: 0 }
    for (let i = 0; i < POLICIES; i++) await runPolicy(dice, `seed ${seed}, policy ${i}`, seen)
    expect(seen.allowed + seen.denied).toBe(POLICIES * REQUESTS)
    // Or there would be nothing that it shows.
    expect(seen.allowed).toBeGreaterThan(REQUESTS * 10)
    expect(seen.denied).toBeGreaterThan(REQUESTS * 10)
    expect(seen.checked).toBeGreaterThan(POLICIES * REQUESTS)
  },
)

async function runPolicy(dice: Dice, title: string, seen: { allowed: number; denied: number; checked: number }) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1) + dice.from(0, 100_000))
  const { levels, cases } = randomLevels(dice)
  const laws = new LevelLaws(levels, cases)
  const inMemory = createPolicy({ name: 'random', levels, store: memoryStore({ clock }) })
  const inRedis = createPolicy({ name: 'random', levels, store: processes.store(clock, `${title}:`) })
  for (let i = 0; i < REQUESTS; i++) {
    clock.advance(dice.of([0, 0, 1, 17.123, 100, 333, dice.from(0, 1_500)]))
    const request = randomRequest(dice)
    const cost = dice.of([0, 1, 1, 1, 2, 3, 13])
    const before = inMemory.peek(request)
    const verdict = inMemory.check(request, { cost })
    const after = inMemory.peek(request)
    const context = () => `${title}, request ${i}: ${JSON.stringify({ levels, request, cost })}`
    const asked = await inRedis.peek(request)
    const same = [asked, ...(await Promise.all([inRedis.check(request, { cost }), inRedis.peek(request)]))]
    assert.deepStrictEqual(same, [before, verdict, after], context())
    if (verdict.allowed) seen.allowed++
    else {
      seen.denied++
      assert.deepStrictEqual(after, before, context())
      assert.deepStrictEqual(same[2], same[0], context())
    }
    try {
      laws.see(BigInt(Math.round(clock.now() * 1_000)), request, cost, verdict)
    } catch (error) {
      throw new Error(context(), { cause: error })
    }
  }
  seen.checked += laws.checked
}
