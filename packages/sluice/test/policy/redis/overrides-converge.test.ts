import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPolicy, fixedWindow } from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'
import { Dice } from './random-policies.js'

const quota = (units: number) => fixedWindow({ quota: units, window: '30d' })
const LEVELS = [{ name: 'merchant', key: 'merchant', limit: quota(1) }] as const
const MERCHANTS = Array.from({ length: 8 }, (_, i) => `m${i}`)
const ROUNDS = 40
/** Until all have heard; and longer than removals are remembered. */
const PAUSES_MS = [2_000, 2_000, 10_000, 3_599_999, 3_600_000, 9_000_000]

let processes: Processes
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())

/** A fleet of three on one clock, and one that starts when it is asked for. */
function fleetOf(prefix: string) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const start = () => createPolicy({ name: 'api', levels: LEVELS, store: processes.store(clock, prefix) })
  return { clock, start, fleet: [start(), start(), start()] }
}

function knownTo(policy: ReturnType<ReturnType<typeof fleetOf>['start']>): Promise<readonly number[]> {
  return Promise.all(MERCHANTS.map(async (merchant) => (await policy.peek({ merchant })).levels[0].decision.quota))
}

it.each([1, 2, 3])(
  'one change after the other: two seconds later all know what was said last (seed %i)',
  async (seed) => {
    const dice = new Dice(seed)
    const { clock, start, fleet } = fleetOf(`one-${seed}:`)
    const last = new Map<string, { units: number; untilMs: number }>()
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = dice.from(0, 8); i > 0; i--) {
        const [policy, merchant, units] = [dice.of(fleet), dice.of(MERCHANTS), dice.from(2, 1_000_000)]
        const untilMs = dice.of([Infinity, Infinity, clock.now() + dice.of([1, 1_500, 5_000, 4_000_000])])
        if (dice.chance(0.3)) {
          await policy.removeOverride('merchant', merchant)
          last.delete(merchant)
        } else {
          await policy.override('merchant', merchant, quota(units), untilMs === Infinity ? {} : { until: untilMs })
          last.set(merchant, { units, untilMs })
        }
        // Who says it knows it at once.
        expect((await policy.peek({ merchant })).levels[0].decision.quota).toBe(last.get(merchant)?.units ?? 1)
        clock.advance(dice.of([0, 0, 300, 999]))
      }
      clock.advance(dice.of(PAUSES_MS))
      const expected = MERCHANTS.map((merchant) => {
        const { units, untilMs } = last.get(merchant) ?? { units: 1, untilMs: Infinity }
        return untilMs > clock.now() ? units : 1
      })
      // Some stay away for a few rounds.
      for (const policy of [...fleet.filter(() => dice.chance(0.6)), start()]) {
        expect(await knownTo(policy)).toEqual(expected)
      }
    }
  },
)

it.each([4, 5, 6])('many changes at once: two seconds later all agree on who was last (seed %i)', async (seed) => {
  const dice = new Dice(seed)
  const { clock, start, fleet } = fleetOf(`many-${seed}:`)
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(
      Array.from({ length: dice.from(0, 30) }, () => {
        const [policy, merchant] = [dice.of(fleet), dice.of(MERCHANTS)]
        if (dice.chance(0.3)) return policy.peek({ merchant })
        if (dice.chance(0.3)) return policy.removeOverride('merchant', merchant)
        const until = dice.of([{}, { until: clock.now() + dice.of([1, 1_500, 4_000_000]) }])
        return policy.override('merchant', merchant, quota(dice.from(2, 1_000_000)), until)
      }),
    )
    clock.advance(dice.of(PAUSES_MS))
    const expected = await knownTo(start())
    for (const policy of fleet.filter(() => dice.chance(0.6))) expect(await knownTo(policy)).toEqual(expected)
  }
})
