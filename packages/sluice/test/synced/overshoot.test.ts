import fc from 'fast-check'
import { fixedWindow, type Limit, slidingWindow, type TokenBucket, tokenBucket } from 'sluice'
import { overshootOf, SyncedStore } from 'sluice/synced'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { type Fate, SharedMemory } from './shared-memory.js'

/** One moment of a history: after a wait, a node asks for some units of the key. */
interface Arrival {
  readonly waitMs: number
  readonly node: number
  readonly cost: number
}

interface Admission {
  readonly atMs: number
  readonly units: number
}

/** How a fleet is disturbed. */
interface Faults {
  readonly travelMs: number
  /** What becomes of one call after the other, again and again. */
  readonly fates: readonly Fate[]
  /** After so many arrivals a node is replaced by a new one that knows nothing. */
  readonly deathAfter: number | undefined
}

const HEALTHY: Faults = { travelMs: 0, fates: ['answered'], deathAfter: undefined }

function fleet(limit: Limit, count: number, intervalMs: number, faults: Faults) {
  const clock = new ManualClock(1_745_000_000_000)
  const shared = new SharedMemory(clock)
  let calls = 0
  shared.travelMs = () => faults.travelMs
  shared.fate = () => faults.fates[calls++ % faults.fates.length]
  const newNode = () => new SyncedStore(shared, { intervalMs }, () => (calls % 10) / 10)
  const nodes = Array.from({ length: count }, newNode)
  const admissions: Admission[] = []
  const ask = ({ node, cost }: Omit<Arrival, 'waitMs'>) => {
    const decision = nodes[node % count].decideNow({ name: 'api', limit, key: 'key', cost })
    if (decision?.allowed) admissions.push({ atMs: clock.now(), units: cost })
  }
  return { clock, shared, nodes, newNode, admissions, ask }
}

async function history(limit: Limit, count: number, intervalMs: number, arrivals: readonly Arrival[], faults: Faults) {
  const all = fleet(limit, count, intervalMs, faults)
  const { clock, nodes, newNode, ask } = all
  for (const [i, arrival] of arrivals.entries()) {
    await clock.advanceAsync(arrival.waitMs)
    if (i === faults.deathAfter) nodes[0] = newNode()
    ask(arrival)
  }
  return all
}

/** The most units above `refill · T` in any interval: a running maximum, because an interval ends with an admission. */
function mostAbove(admissions: readonly Admission[], refillPerMs: number): number {
  let [most, above, lastMs] = [0, 0, 0]
  for (const { atMs, units } of admissions) {
    above = Math.max(0, above - (atMs - lastMs) * refillPerMs) + units
    most = Math.max(most, above)
    lastMs = atMs
  }
  return most
}

/** The most units in any window that is aligned to the epoch. */
function mostInWindow(admissions: readonly Admission[], windowMs: number): number {
  const windows = new Map<number, number>()
  for (const { atMs, units } of admissions) {
    const window = Math.floor(atMs / windowMs)
    windows.set(window, (windows.get(window) ?? 0) + units)
  }
  return Math.max(0, ...windows.values())
}

const arrivals = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 1_000 })),
    node: fc.nat(4),
    cost: fc.integer({ min: 1, max: 6 }),
  }),
  { minLength: 1, maxLength: 120 },
)
const buckets = fc
  .record({ capacity: fc.integer({ min: 1, max: 12 }), perSecond: fc.integer({ min: 1, max: 100 }) })
  .map(({ capacity, perSecond }) => ({ limit: tokenBucket({ capacity, refill: `${perSecond}/s` }), perSecond }))
const faults = fc.record({
  travelMs: fc.integer({ min: 0, max: 20 }),
  fates: fc.array(fc.constantFrom<Fate>('answered', 'answered', 'lost', 'answer lost'), { minLength: 1, maxLength: 8 }),
  deathAfter: fc.option(fc.nat(100), { nil: undefined }),
})
const nodeCounts = fc.integer({ min: 1, max: 5 })
const intervals = fc.integer({ min: 10, max: 200 })

describe('the bound of a token bucket', () => {
  it('a fleet never admits more than the limit and the stated overshoot, in any interval', () =>
    fc.assert(
      fc.asyncProperty(buckets, nodeCounts, intervals, arrivals, fc.integer({ min: 0, max: 20 }), async (...given) => {
        const [{ limit, perSecond }, count, intervalMs, trace, travelMs] = given
        const { admissions } = await history(limit, count, intervalMs, trace, { ...HEALTHY, travelMs })
        // A sync that finds the last one under way waits for the next interval.
        const isSlow = 2 * travelMs >= 0.8 * intervalMs
        const gapMs = (isSlow ? 2 : 1) * (intervalMs + 2 * travelMs)
        const overshoot = overshootOf(limit, { nodes: count, gapMs })
        expect(mostAbove(admissions, perSecond / 1_000)).toBeLessThanOrEqual(limit.capacity + overshoot)
      }),
      { numRuns: 300 },
    ))

  it('lost calls, lost answers and dead nodes leave each node within the limit, and so the fleet within their number', () =>
    fc.assert(
      fc.asyncProperty(buckets, nodeCounts, intervals, arrivals, faults, async (...given) => {
        const [{ limit, perSecond }, count, intervalMs, trace, disturbed] = given
        const { admissions } = await history(limit, count, intervalMs, trace, disturbed)
        // A node that takes the place of a dead one counts as one more.
        const nodes = count + (disturbed.deathAfter === undefined ? 0 : 1)
        expect(mostAbove(admissions, (nodes * perSecond) / 1_000)).toBeLessThanOrEqual(nodes * limit.capacity)
      }),
      { numRuns: 300 },
    ))

  it('a node that is alone admits exactly within its limit, whatever is lost', () =>
    fc.assert(
      fc.asyncProperty(buckets, intervals, arrivals, faults, async ({ limit, perSecond }, intervalMs, trace, lost) => {
        const alone = { ...lost, deathAfter: undefined }
        const { admissions } = await history(limit, 1, intervalMs, trace, alone)
        expect(mostAbove(admissions, perSecond / 1_000)).toBeLessThanOrEqual(limit.capacity)
      }),
      { numRuns: 200 },
    ))
})

describe('the bound of windows', () => {
  const windows = [fixedWindow({ quota: 8, window: '1s' }), slidingWindow({ quota: 8, window: '1s' })]
  for (const limit of windows) {
    it(`a fleet never admits more than the quota of each node in a ${limit.algorithm}`, () =>
      fc.assert(
        fc.asyncProperty(nodeCounts, intervals, arrivals, faults, async (count, intervalMs, trace, disturbed) => {
          const { admissions } = await history(limit, count, intervalMs, trace, disturbed)
          const nodes = count + (disturbed.deathAfter === undefined ? 0 : 1)
          const most = limit.quota + overshootOf(limit, { nodes, gapMs: intervalMs })
          expect(mostInWindow(admissions, 1_000)).toBeLessThanOrEqual(most)
        }),
        { numRuns: 200 },
      ))
  }
})

describe('the long run', () => {
  /** Asks far more often than the limit allows, for a minute, from every node. */
  async function overload(limit: TokenBucket, faults: Faults) {
    const { clock, nodes, admissions, ask } = fleet(limit, 4, 100, faults)
    for (let ms = 0; ms < 60_000; ms += 5) {
      await clock.advanceAsync(5)
      for (const node of nodes.keys()) ask({ node, cost: 1 })
    }
    return admissions.reduce((sum, { units }) => sum + units, 0)
  }

  it('four nodes in overload admit the refill of the bucket and its capacity, because overshoot is a debt', async () => {
    const limit = tokenBucket({ capacity: 50, refill: '100/s' })
    const admitted = await overload(limit, HEALTHY)
    expect(admitted).toBeLessThanOrEqual(50 + 6_000 + overshootOf(limit, { nodes: 4, gapMs: 100 }))
    expect(admitted).toBeGreaterThan(0.98 * 6_000)
  })

  it('lost calls and lost answers make a fleet stricter in the long run, never looser', async () => {
    const limit = tokenBucket({ capacity: 50, refill: '100/s' })
    const fates: Fate[] = ['answered', 'answered', 'lost', 'answered', 'answer lost', 'answered', 'answered']
    const admitted = await overload(limit, { ...HEALTHY, fates })
    expect(admitted).toBeLessThanOrEqual(50 + 6_000 + overshootOf(limit, { nodes: 4, gapMs: 500 }))
    expect(admitted).toBeGreaterThan(0.3 * 6_000)
  })
})

describe('overshootOf', () => {
  it('tells the bound of a fleet before it runs', () => {
    const limit = tokenBucket({ capacity: 100, refill: '50/s' })
    expect(overshootOf(limit, { nodes: 4, gapMs: 100 })).toBe(330)
    expect(overshootOf(limit, { nodes: 1, gapMs: 100 })).toBe(0)
    expect(overshootOf(fixedWindow({ quota: 10, window: '1m' }), { nodes: 3, gapMs: 100 })).toBe(20)
  })

  it('names what is wrong', () => {
    const limit = tokenBucket({ capacity: 100, refill: '50/s' })
    expect(() => overshootOf(limit, { nodes: 0, gapMs: 100 })).toThrow(/nodes must be .* got 0/)
  })
})
