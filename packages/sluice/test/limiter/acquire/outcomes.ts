import type { Decision } from 'sluice'
import type { ManualClock } from 'sluice/testing'

/** How a wait ended, and when by the clock. */
export interface Outcome {
  readonly atMs: number
  readonly decision?: Decision
  readonly error?: unknown
}

/** Records how waits end, in the order in which they end. */
export class Outcomes {
  readonly #clock: ManualClock
  readonly #byName = new Map<string, Outcome>()

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  watch(name: string, wait: Promise<Decision>): void {
    wait.then(
      (decision) => this.#byName.set(name, { atMs: this.#clock.now(), decision }),
      (error: unknown) => this.#byName.set(name, { atMs: this.#clock.now(), error }),
    )
  }

  of(name: string): Outcome | undefined {
    return this.#byName.get(name)
  }

  /** The names of those that got their units, in order. */
  get admitted(): string[] {
    return [...this.#byName].filter(([, { decision }]) => decision).map(([name]) => name)
  }
}

/** Lets all code run that waits for settled promises. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 12; i++) await undefined
}

/** Moves the clock, and stops at every alarm so that its waiters go on. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  const endMs = clock.now() + ms
  await settled()
  for (let next = clock.nextAlarmMs; next !== undefined && next <= endMs; next = clock.nextAlarmMs) {
    clock.advance(Math.max(0, next - clock.now()))
    await settled()
  }
  clock.advance(endMs - clock.now())
  await settled()
}
