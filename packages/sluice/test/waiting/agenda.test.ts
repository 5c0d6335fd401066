import fc from 'fast-check'
import { ManualClock } from 'sluice/testing'
import { expect, it } from 'vitest'
import { setAlarm } from '../../src/clock.js'
import { Agenda, Appointment } from '../../src/waiting/agenda.js'

const steps = fc.array(
  fc.record({
    name: fc.integer({ min: 0, max: 15 }),
    what: fc.constantFrom('set', 'set', 'drop', 'advance'),
    ms: fc.integer({ min: 0, max: 20 }),
  }),
)

it('an agenda handles every appointment at its time and in order, with one alarm', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const clock = new ManualClock(1_000)
      const done: string[] = []
      const expected: string[] = []
      const agenda = new Agenda(clock, setAlarm)
      const all = Array.from({ length: 16 }, (_, name) => new Named(name, () => done.push(`${name} ${clock.now()}`)))
      const model = new Map<number, { atMs: number; rank: number }>()
      for (const { name, what, ms } of taken) {
        if (what === 'advance') {
          clock.advance(ms)
          const due = [...model].filter(([, { atMs }]) => atMs <= clock.now())
          due.sort(([, a], [, b]) => a.atMs - b.atMs || a.rank - b.rank)
          for (const [each, { atMs }] of due) {
            model.delete(each)
            expected.push(`${each} ${Math.max(atMs, clock.now() - ms)}`)
          }
        } else {
          model.delete(name)
          if (what === 'set') {
            agenda.set(all[name], clock.now() + ms)
            model.set(name, { atMs: clock.now() + ms, rank: all[name].rank })
          } else agenda.drop(all[name])
        }
        const times = [...model.values()].map(({ atMs }) => atMs)
        expect(clock.nextAlarmMs).toBe(times.length === 0 ? undefined : Math.min(...times))
      }
      expect(done).toEqual(expected)
    }),
  )
})

it('an agenda catches up when the alarm is late', () => {
  let nowMs = 0
  const alarms = new Set<() => void>()
  const clock = {
    now: () => nowMs,
    alarm: (_: number, ring: () => void) => {
      alarms.add(ring)
      return () => void alarms.delete(ring)
    },
  }
  const done: number[] = []
  const agenda = new Agenda(clock, setAlarm)
  agenda.set(new Named(1, () => done.push(1)), 10)
  agenda.set(new Named(2, () => done.push(2)), 20)
  agenda.catchUp()
  expect(done).toEqual([])
  nowMs = 15
  agenda.catchUp()
  expect([done, alarms.size]).toEqual([[1], 1])
})

class Named extends Appointment {
  readonly due: () => void

  constructor(name: number, due: () => void) {
    super(name % 2)
    this.due = due
  }
}
