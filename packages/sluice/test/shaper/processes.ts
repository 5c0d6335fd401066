import { setImmediate } from 'node:timers/promises'
import type { Rate } from 'sluice'
import { type AsyncStore, type Clock, createShaper, type MemoryStore, memoryStore, type Shaper } from 'sluice'
import { HeldUpClock } from '../held-up-clock.js'
import { START_MS } from './moving-clocks.js'

/** A caller's turn: when it really was, and its slot, both since the beginning. */
export interface Departure {
  readonly leftMs: number
  readonly slotMs: number
}

/** One process of a fleet. The store decides at once, and its answers arrive when `read` is called. */
class ShaperProcess {
  readonly shaper: Shaper
  readonly departures: Departure[] = []
  asks = 0
  readonly #clock: Clock
  #answers: (() => void)[] = []

  constructor(clock: Clock, memory: MemoryStore, numbers: { name: string; drain: Rate; capacity: number }) {
    this.#clock = clock
    const later = <T>(value: T) => new Promise<T>((resolve) => this.#answers.push(() => resolve(value)))
    const store: AsyncStore = {
      clock,
      decide: (demands) => {
        this.asks++
        return later(memory.decide(demands))
      },
      peek: (demands) => later(memory.peek(demands)),
      charge: (demand) => later(memory.charge(demand)),
      set: (limited, remaining) => later(memory.set(limited, remaining)),
      refund: async (demand, taken) => memory.refund(demand, taken),
      reset: async (name, key) => memory.reset(name, key),
      block: async (name, key, durationUs) => memory.block(name, key, durationUs),
    }
    this.shaper = createShaper({ ...numbers, store })
  }

  come(callers: number, options = {}): void {
    for (let i = 0; i < callers; i++)
      void this.shaper.wait(options).then(({ atMs }) => {
        this.departures.push({ leftMs: this.#clock.now() - START_MS, slotMs: atMs - START_MS })
      })
  }

  /** Reads the answers, in reverse order if `isReversed`. */
  async read(isReversed = false): Promise<void> {
    const answers = isReversed ? this.#answers.reverse() : this.#answers
    this.#answers = []
    for (const answer of answers) answer()
    await setImmediate()
  }
}

/** Processes that share a schedule and a machine. */
export function processes(count: number, numbers: { name: string; drain: Rate; capacity: number }) {
  const clock = new HeldUpClock(START_MS)
  const memory = memoryStore({ clock })
  const fleet = Array.from({ length: count }, () => new ShaperProcess(clock, memory, numbers))
  return { clock, memory, fleet }
}

/** The largest number of departures in any second. */
export function mostInASecond(departures: readonly Pick<Departure, 'leftMs'>[]): number {
  const times = departures.map(({ leftMs }) => leftMs).sort((one, other) => one - other)
  return Math.max(...times.map((ms, i) => i + 1 - times.findIndex((first) => first > ms - 1000)))
}
