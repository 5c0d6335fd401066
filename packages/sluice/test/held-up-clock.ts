import { setImmediate } from 'node:timers/promises'
import type { Clock } from 'sluice'

/** A clock that goes on while the process is held up: alarms ring when they are told to, however late that is. */
export class HeldUpClock implements Clock {
  #nowMs: number
  readonly #alarms = new Set<{ readonly atMs: number; readonly ring: () => void }>()
  /** How long that takes which is done after the next look. */
  afterLookMs = 0

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  now(): number {
    const nowMs = this.#nowMs
    this.#nowMs += this.afterLookMs
    this.afterLookMs = 0
    return nowMs
  }

  alarm(atMs: number, ring: () => void): () => void {
    const alarm = { atMs, ring }
    this.#alarms.add(alarm)
    return () => void this.#alarms.delete(alarm)
  }

  pass(ms: number): void {
    this.#nowMs += ms
  }

  async ring(): Promise<void> {
    for (const alarm of [...this.#alarms]) {
      if (alarm.atMs > this.#nowMs || !this.#alarms.delete(alarm)) continue
      alarm.ring()
    }
    await setImmediate()
  }
}
