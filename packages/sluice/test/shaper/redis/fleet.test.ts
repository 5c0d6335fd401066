import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { isLong } from '../../property/arbitraries.js'
import { until } from '../../redis/faults-until.js'
import { mostInASecond } from '../processes.js'
import { type Departure, ShaperFleet } from './fleet-processes.js'

const PER_SECOND = 100
const SPACING_MS = 1000 / PER_SECOND
const MICROSECOND_MS = 0.001
/** How long the first fleet is watched: whole turns of its 90 callers, because those of a process leave one after the other. */
const WATCHED_S = isLong ? 9.9 : 4.5
/** A little more than a turn of all 90 callers: from then on every process has asked as often as any other. */
const BEGUN_MS = 1_000

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(async () => {
  await server?.stop()
})

function startFleet(name: string, callers: readonly number[]) {
  const shaper = { name, drain: `${PER_SECOND}/s`, capacity: 1_000 }
  return ShaperFleet.start({ port: server.port, shaper, callers })
}

/** Checks what is true of every fleet at any time. */
function expectSpaced(departures: readonly Departure[]): void {
  const gaps = departures.slice(1).map(({ atMs }, i) => atMs - departures[i].atMs)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(SPACING_MS - MICROSECOND_MS)
  // The time of departure is rounded down.
  const early = departures.filter(({ atMs, leftMs }) => leftMs + 1 < atMs)
  expect(early).toEqual([])
  // A slot is kept for 20 ms, so the slots of 1,020 ms may be used in one second.
  expect(mostInASecond(departures)).toBeLessThanOrEqual(1.02 * PER_SECOND + 2)
}

/** How many slots between the first and the last passed unused. */
function missed(departures: readonly Departure[]): number {
  const [first, last] = [departures[0], departures[departures.length - 1]]
  return Math.round((last.atMs - first.atMs) / SPACING_MS) + 1 - departures.length
}

function inSpan(departures: readonly Departure[], fromMs: number, ms: number): Departure[] {
  return departures.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + ms)
}

/** If the machine itself is held up, slots pass unused. A run to which that happens is repeated: a fault would show in all. */
const TRIES = 5

interface Trial {
  readonly callers: readonly number[]
  /** Lets the fleet work for as long as is needed. */
  watch(fleet: ShaperFleet): Promise<void>
  check(fleet: ShaperFleet): void
}

/** Runs fleets until one passes the check. Every one of them is spaced. */
async function oneOf(name: string, { callers, watch, check }: Trial) {
  for (let i = 1; ; i++) {
    using fleet = await startFleet(`${name}-${i}`, callers)
    await watch(fleet)
    await fleet.stop()
    expectSpaced(fleet.sorted)
    try {
      return check(fleet)
    } catch (error) {
      if (i === TRIES) throw error
    }
  }
}

describe('three processes on one Redis', () => {
  it('leave at the rate together, never closer and never early, in equal shares', async () => {
    await oneOf('equal', {
      callers: [30, 30, 30],
      watch: (fleet) =>
        until('seconds of departures', () => fleet.sorted.length > (WATCHED_S + 1.3) * PER_SECOND, 15_000),
      check: (fleet) => {
        const startMs = fleet.sorted[0].atMs + BEGUN_MS
        const inWatch = (departures: readonly Departure[]) => inSpan(departures, startMs, WATCHED_S * 1_000)
        const watched = inWatch(fleet.sorted)
        expect(watched.length).toBeGreaterThanOrEqual(0.99 * WATCHED_S * PER_SECOND)
        expect(watched.length).toBeLessThanOrEqual(1.01 * WATCHED_S * PER_SECOND)
        for (const { length } of fleet.departures.map(inWatch)) {
          expect(length).toBeGreaterThan(0.9 * (watched.length / 3))
          expect(length).toBeLessThan(1.1 * (watched.length / 3))
        }
      },
    })
  }, 60_000)

  it('leave in the order in which they asked: a process that asks ten times as often leaves ten times as often', async () => {
    await oneOf('unequal', {
      callers: [50, 5, 5],
      watch: (fleet) => until('three seconds of departures', () => fleet.sorted.length > 3 * PER_SECOND),
      check: (fleet) => {
        const [many, few, fewToo] = fleet.departures.map(({ length }) => length)
        for (const one of [few, fewToo]) {
          expect(many / one).toBeGreaterThan(8)
          expect(many / one).toBeLessThan(12)
        }
      },
    })
  }, 60_000)

  it('lose no more than the slots of a process that is killed', async () => {
    const HELD = 10
    let killedMs = 0
    await oneOf('killed', {
      callers: [30, 30, HELD],
      watch: async (fleet) => {
        await until('two seconds of departures', () => fleet.sorted.length > 2 * PER_SECOND)
        await fleet.kill(2)
        killedMs = Date.now()
        await until('departures after it', () => fleet.sorted.some(({ atMs }) => atMs > killedMs + 2_500))
      },
      check: (fleet) => {
        // The process held at most the slots of its waiters, and may have used one more that it did not report.
        const lost = inSpan(fleet.sorted, killedMs - 500, 1_500)
        expect(missed(lost)).toBeLessThanOrEqual(HELD + 1)
        expect(missed(lost)).toBeGreaterThanOrEqual(1)
        const after = inSpan(fleet.sorted, killedMs + 1_000, 1_500)
        expect(after.length).toBeGreaterThanOrEqual(0.99 * 1.5 * PER_SECOND - 1)
      },
    })
  }, 60_000)
})
