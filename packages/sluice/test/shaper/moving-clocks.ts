/** Clocks for shapers: they move from alarm to alarm, and their alarms are counted, late, or ring on ticks only. */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from 'sluice'
import { ManualClock } from 'sluice/testing'

export const START_MS = Date.UTC(2026, 0, 1)

/** Moves the clock from alarm to alarm, so that all code runs at its own time. */
export async function advance(clock: ManualClock, ms: number): Promise<void> {
  const endMs = clock.now() + ms
  await setImmediate()
  while (clock.nextAlarmMs !== undefined && clock.nextAlarmMs <= endMs) {
    clock.advance(clock.nextAlarmMs - clock.now())
    await setImmediate()
  }
  clock.advance(endMs - clock.now())
  await setImmediate()
}

/** Moves the clock until no alarm is left. */
export async function advanceToEnd(clock: ManualClock): Promise<void> {
  await setImmediate()
  while (clock.nextAlarmMs !== undefined) {
    clock.advance(Math.max(0, clock.nextAlarmMs - clock.now()))
    await setImmediate()
  }
}

/** A clock that follows a manual one. Its alarms ring when `ringsAt` says, and it counts how many are set. */
export class AlarmedClock implements Clock {
  readonly manual: ManualClock
  alarms = 0
  mostAlarms = 0
  readonly #ringsAt: (atMs: number) => number

  constructor(ringsAt: (atMs: number) => number = (atMs) => atMs, manual = new ManualClock(START_MS)) {
    this.manual = manual
    this.#ringsAt = ringsAt
  }

  now(): number {
    return this.manual.now()
  }

  alarm(atMs: number, ring: () => void): () => void {
    this.mostAlarms = Math.max(this.mostAlarms, ++this.alarms)
    let isSet = true
    const end = () => {
      if (isSet) this.alarms--
      isSet = false
    }
    const stop = this.manual.alarm(this.#ringsAt(atMs), () => {
      end()
      ring()
    })
    return () => {
      end()
      stop()
    }
  }
}

/** Rings on whole ticks only, as real timers do. */
export function onTicks(tickMs: number): (atMs: number) => number {
  return (atMs) => Math.ceil(atMs / tickMs) * tickMs
}
