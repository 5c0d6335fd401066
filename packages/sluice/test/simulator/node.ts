import type { Clock } from 'sluice'

/** A clock that has alarms. */
export type AlarmClock = Required<Clock>

/**
 * A process of a fleet, with its own clock. It can die: then nothing that it started goes on. It can be held up: then its
 * timers and the answers to its calls are late.
 */
export class Node {
  /** The clock of this process: it runs at its own speed, and may be off by minutes. */
  readonly clock: AlarmClock
  #isDead = false
  #isHeldUp = false
  #late: (() => void)[] = []

  /** The node's clock is `offsetMs` ahead, and then runs `speed` times as fast as the given one. */
  constructor(clock: AlarmClock, speed: number, offsetMs = 0) {
    const startMs = clock.now()
    this.clock = {
      now: () => offsetMs + startMs + (clock.now() - startMs) * speed,
      // A microsecond later, because the division rounds, and no alarm may ring too early.
      alarm: (atMs, ring) => clock.alarm(startMs + (atMs - offsetMs - startMs) / speed + 0.001, () => this.run(ring)),
    }
  }

  get isDead(): boolean {
    return this.#isDead
  }

  get isHeldUp(): boolean {
    return this.#isHeldUp
  }

  die(): void {
    this.#isDead = true
  }

  holdUp(): void {
    this.#isHeldUp = true
  }

  /** Goes on with what came last: a request may well run before a timer that was due long ago. */
  goOn(): void {
    this.#isHeldUp = false
    const late = this.#late
    this.#late = []
    for (const each of late.reverse()) this.run(each)
  }

  /** Runs something in this process: now, when it goes on, or never if it is dead. */
  run(work: () => void): void {
    if (this.#isHeldUp) this.#late.push(work)
    else if (!this.#isDead) work()
  }
}
