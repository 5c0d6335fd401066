import type { SlotSchedule } from './schedule.js'

/** The schedule of a shaper without a rate, which only bounds how much work runs: every slot comes now, and has no length. */
export class UnratedSchedule implements SlotSchedule {
  readonly usPerUnit = 0
  readonly slack = 0
  readonly #answer: ReturnType<SlotSchedule['take']>

  constructor(capacity: number) {
    this.#answer = { allowed: true, remaining: capacity, delayMs: 0, retryAfterMs: 0 }
  }

  take(): ReturnType<SlotSchedule['take']> {
    return this.#answer
  }

  takeAtOnce(): boolean {
    return true
  }

  takeBack(): void {}

  forget(): void {}
}
