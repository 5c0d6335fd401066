import fc from 'fast-check'
import { tokenBucket } from 'sluice'
import { expect, it } from 'vitest'
import { worstBurst } from '../simulator/law.js'
import { Fleet, type Weather } from './fleet.js'

/** A life has hundreds of steps of the clock, each with code that runs in between. */
const RUNS = { numRuns: 100 }

const weathers: fc.Arbitrary<Weather> = fc.record({
  thereMs: fc.double({ min: 0, max: 30, noNaN: true }),
  backMs: fc.double({ min: 0, max: 30, noNaN: true }),
  fate: fc.constantFrom('arrives', 'arrives', 'arrives', 'isLost', 'answerIsLost', 'isLate', 'isDoubled'),
})

const steps = fc.array(
  fc.record({
    node: fc.nat(3),
    requests: fc.constantFrom(1, 1, 3, 10, 40),
    cost: fc.constantFrom(1, 1, 1, 2, 7),
    waitMs: fc.constantFrom(0, 0, 1, 5, 20, 100, 400, 1_500),
    isHeldUp: fc.constantFrom(false, false, false, true),
    dies: fc.constantFrom(false, false, false, false, false, false, false, false, false, true),
  }),
  { minLength: 20, maxLength: 80 },
)

const lives = fc.record({
  capacity: fc.constantFrom(20, 50, 300),
  perSecond: fc.constantFrom(10, 50, 400),
  speeds: fc.array(fc.double({ min: 0.992, max: 1.008, noNaN: true }), { minLength: 1, maxLength: 4 }),
  weathers: fc.array(weathers, { minLength: 1, maxLength: 30 }),
  steps,
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
})

type Life = typeof lives extends fc.Arbitrary<infer T> ? T : never

/** Plays a life, and calls `look` after each step. */
async function play(life: Life, look: (fleet: Fleet) => void): Promise<Fleet> {
  const limit = tokenBucket({ capacity: life.capacity, refill: `${life.perSecond}/s` })
  const fleet = new Fleet(limit, life.speeds, () => life.jitter)
  let calls = 0
  fleet.weather = () => life.weathers[calls++ % life.weathers.length]
  for (const { node, requests, cost, waitMs, isHeldUp, dies } of life.steps) {
    for (let i = 0; i < requests; i++) fleet.ask(node, cost)
    const { nodes } = fleet
    const one = nodes[node % nodes.length]
    if (isHeldUp) one.holdUp()
    await fleet.clock.advanceAsync(waitMs)
    // After a while in which nothing ran, requests may come before the timers that are due.
    if (isHeldUp) for (let i = 0; i < requests; i++) fleet.ask(node, cost)
    one.goOn()
    if (dies) fleet.kill(node)
    look(fleet)
  }
  return fleet
}

it('nodes never admit more than capacity + refill·T in any interval, whatever happens to calls, clocks and nodes', async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const fleet = await play(life, () => {})
      expect(worstBurst(fleet.admissions, life.perSecond)).toBeLessThanOrEqual(life.capacity)
    }),
    RUNS,
  )
})

it('every granted unit is spent, returned, expired or held, at any time', async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      await play(life, ({ nodes }) => {
        for (const { store } of nodes) {
          const { granted, spent, returned, expired, held } = store.stats()
          expect(spent + returned + expired + held).toBe(granted)
        }
      })
    }),
    RUNS,
  )
})

it('no unit is reported twice, and no request for a lease has the number of another', async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const { inner, nodes } = await play(
        { ...life, steps: life.steps.map((step) => ({ ...step, dies: false })) },
        () => {},
      )
      const numbers = new Map(inner.requests.map((request) => [`${request.node} ${request.sequence}`, request]))
      const returns = [...numbers.values()].flatMap((request) => request.returns)
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
      const stats = nodes.map(({ store }) => store.stats())
      expect(sum(returns.map(({ spent }) => spent))).toBeLessThanOrEqual(sum(stats.map(({ spent }) => spent)))
      expect(sum(returns.map(({ unspent }) => unspent))).toBeLessThanOrEqual(
        sum(stats.map(({ returned, expired }) => returned + expired)),
      )
    }),
    RUNS,
  )
})

it('after a quiet while nothing is leased, nothing is held, no timer is set, and the bucket is whole', async () => {
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const { clock, inner, nodes } = await play(life, () => {})
      await clock.advanceAsync(1_000 * (8 + life.capacity / life.perSecond))
      for (const { store } of nodes) expect(store.stats()).toMatchObject({ keys: 0, held: 0 })
      const limit = tokenBucket({ capacity: life.capacity, refill: `${life.perSecond}/s` })
      expect(inner.unitsOf({ name: 'api', key: 'busy', limit })).toEqual({ left: life.capacity, held: 0 })
      await clock.advanceAsync(1_000)
      expect(clock.nextAlarmMs).toBeUndefined()
    }),
    RUNS,
  )
})
