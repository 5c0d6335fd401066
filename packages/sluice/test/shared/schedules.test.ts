import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { everySchedule, type Moment, type ThreadCode } from './schedules.js'
import { type Key, NOW_US, SmallTable, UNIT_US } from './small-table.js'

const EMPTY = NOW_US + 2 * UNIT_US
const HALF = NOW_US + UNIT_US
const WHOLE = NOW_US - 1

const one = new SmallTable(1)
const two = new SmallTable(2)

interface Case {
  readonly table: SmallTable
  readonly memory: Int32Array
  /** Threads that take a unit of these keys. */
  readonly takers: readonly Key[]
  /** Threads that take nothing. */
  readonly others?: readonly ThreadCode[]
  /** How many units the takers and later callers of each key may get in all. */
  readonly units: Partial<Record<Key, number>>
  /** Is there an entry for every key? Then, if no thread has died, callers get exactly so many. */
  readonly isRoomy?: boolean
  /** Do threads read a cell in two steps? */
  readonly isTorn?: boolean
}

/** Checks every moment of every schedule, and returns how many there are. */
function search({ table, memory: start, takers, others = [], units, isRoomy = true, isTorn }: Case): number {
  const threads = [...takers.map((key) => table.take(key)), ...others]
  const check = ({ memory, results }: Moment) => {
    const tags = table.tags(memory)
    if (new Set(tags).size < tags.length) throw new Error(`a key has two entries: ${memory.join()}`)
    const isOver = !results.includes(undefined)
    for (const [key, most] of Object.entries(units) as [Key, number][]) {
      const admitted = takers.filter((of, i) => of === key && results[i] === true).length
      const all = admitted + table.unitsLeft(memory, key)
      if (all > most || (isOver && isRoomy && all !== most))
        throw new Error(`${key} gets ${all} units instead of ${most}: ${results.join()} in ${memory.join()}`)
    }
  }
  return everySchedule(start, threads, check, isTorn)
}

describe('in every schedule of threads that may end at any step', () => {
  it('takers of one key get its units once', () => {
    const memory = two.memory(['A', HALF])
    expect(search({ table: two, memory, takers: ['A', 'A'], units: { A: 1 } })).toBeGreaterThan(40)
    const whole = two.memory(['A', WHOLE])
    expect(search({ table: two, memory: whole, takers: ['A', 'A', 'A'], units: { A: 2 } })).toBeGreaterThan(1_000)
  })

  it('a refund beside takers gives its unit once', () => {
    const memory = two.memory(['A', EMPTY])
    const others = [two.refund('A')]
    expect(search({ table: two, memory, takers: ['A', 'A'], others, units: { A: 1 } })).toBeGreaterThan(500)
  })

  it('a reset beside a taker gives no more than the whole quota', () => {
    const memory = two.memory(['A', HALF])
    // The unit that was taken before the reset is forgotten, so there may be one more than the quota.
    const found = search({
      table: two,
      memory,
      takers: ['A'],
      others: [two.reset('A')],
      units: { A: 3 },
      isRoomy: false,
    })
    expect(found).toBeGreaterThan(40)
  })

  it('a set beside takers replaces what they took before it, and no unit that is taken after it', () => {
    const searchSet = (units: number, ...takers: Key[]) =>
      search({ table: two, memory: two.memory(['A', EMPTY]), takers, others: [two.setWhole('A')], units: { A: units } })
    // Until the set there is nothing to take, so the takers and later callers get the whole quota, and no more.
    expect(searchSet(2, 'A')).toBeGreaterThan(20)
    expect(searchSet(2, 'A', 'A')).toBeGreaterThan(200)
  })

  it('threads that insert the same key make one entry', () => {
    for (const memory of [two.memory(), two.memory(['C', WHOLE], ['D', WHOLE]), two.memory(['C', EMPTY], ['D', WHOLE])])
      expect(search({ table: two, memory, takers: ['A', 'A'], units: { A: 2 } })).toBeGreaterThan(1_000)
  }, 120_000)

  it('threads that insert two keys both get an entry', () => {
    for (const memory of isLong ? [two.memory(), two.memory(['C', WHOLE], ['D', WHOLE])] : [two.memory()])
      expect(search({ table: two, memory, takers: ['A', 'B'], units: { A: 2, B: 2 } })).toBeGreaterThan(1_000)
  }, 600_000)

  it('threads that compete for one whole entry do not get the same', () => {
    const memory = one.memory(['C', WHOLE])
    const units = { A: 2, B: 2, C: 2 }
    expect(search({ table: one, memory, takers: ['A', 'B'], units, isRoomy: false })).toBeGreaterThan(1_000)
  }, 120_000)

  it('a taker of a whole key and the take-over of its entry do not both have it', () => {
    const memory = one.memory(['C', WHOLE])
    const units = { A: 2, C: 2 }
    expect(search({ table: one, memory, takers: ['C', 'A'], units, isRoomy: false })).toBeGreaterThan(500)
  }, 120_000)

  it('a caller whose entry is taken over neither takes from the new key nor gives it units', () => {
    const memory = two.memory(['C', WHOLE], ['D', WHOLE])
    expect(search({ table: two, memory, takers: ['C', 'A'], units: { A: 2, C: 2 } })).toBeGreaterThan(1_000)
    const others = [two.refund('C')]
    expect(search({ table: two, memory, takers: ['A'], others, units: { A: 2 } })).toBeGreaterThan(100)
  }, 120_000)

  it('halves of two words, or of two claims, deceive no thread', () => {
    const torn = (memory: Int32Array, takers: readonly Key[], units: Case['units'], ...others: ThreadCode[]) =>
      search({ table: two, memory, takers, others, units, isTorn: true })
    expect(torn(two.memory(['A', HALF]), ['A', 'A'], { A: 1 })).toBeGreaterThan(100)
    expect(torn(two.memory(['A', EMPTY]), ['A'], { A: 1 }, two.refund('A'))).toBeGreaterThan(100)
    if (!isLong) return
    expect(torn(two.memory(['A', EMPTY]), ['A', 'A'], { A: 1 }, two.refund('A'))).toBeGreaterThan(2_000)
    expect(torn(two.memory(['C', WHOLE], ['D', WHOLE]), ['C', 'A'], { A: 2, C: 2 })).toBeGreaterThan(1_000)
  }, 600_000)

  it.runIf(isLong)(
    'three threads, two takers of a whole key and the take-over of its entry, do not both have it',
    () => {
      const memory = one.memory(['C', WHOLE])
      const units = { A: 2, C: 2 }
      expect(search({ table: one, memory, takers: ['C', 'A', 'C'], units, isRoomy: false })).toBeGreaterThan(10_000)
    },
    600_000,
  )
})
