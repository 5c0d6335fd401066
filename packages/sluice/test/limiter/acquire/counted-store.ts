import { type Answer, type AsyncStore, type MemoryStore, memoryStore, type SyncStore } from 'sluice'
import type { ManualClock } from 'sluice/testing'

/** A memory store that counts how often it is asked to decide. */
export function countedStore(clock: ManualClock): { readonly store: SyncStore; readonly count: { decides: number } } {
  const inner = memoryStore({ clock })
  const count = { decides: 0 }
  const store: SyncStore = {
    synchronous: true,
    clock,
    decide(demands) {
      count.decides++
      return inner.decide(demands)
    },
    decideOne: (...asked) => inner.decideOne(...asked),
    peekOne: (...asked) => inner.peekOne(...asked),
    peek: (demands) => inner.peek(demands),
    charge: (demand) => inner.charge(demand),
    set: (limited, remaining) => inner.set(limited, remaining),
    refund: (demand, taken) => inner.refund(demand, taken),
    reset: (name, key) => inner.reset(name, key),
    block: (name, key, durationUs) => inner.block(name, key, durationUs),
  }
  return { store, count }
}

/**
 * A store that answers all questions together when it is told to. It decides at that time or, with `decidesEarly`, when
 * it is asked, so that its answers are old when they come.
 */
export class LateStore implements AsyncStore {
  readonly clock: ManualClock
  readonly memory: MemoryStore
  /** How many questions were answered each time. */
  readonly batches: number[] = []
  decidesEarly = false
  #waiting: (() => void)[] = []
  #error: Error | undefined

  constructor(clock: ManualClock) {
    this.clock = clock
    this.memory = memoryStore({ clock })
  }

  get underway(): number {
    return this.#waiting.length
  }

  /** Answers all questions, with the error if there is one. */
  answer(error?: Error): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.batches.push(waiting.length)
    this.#error = error
    for (const each of waiting) each()
  }

  decide(demands: Parameters<AsyncStore['decide']>[0]): Promise<Answer> {
    const early = this.decidesEarly ? this.memory.decide(demands) : undefined
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => (this.#error ? reject(this.#error) : resolve(early ?? this.memory.decide(demands))))
    })
  }
  peek: AsyncStore['peek'] = async (demands) => this.memory.peek(demands)
  charge: AsyncStore['charge'] = async (demand) => this.memory.charge(demand)
  set: AsyncStore['set'] = async (limited, remaining) => this.memory.set(limited, remaining)
  refund: AsyncStore['refund'] = async (demand, taken) => this.memory.refund(demand, taken)
  reset: AsyncStore['reset'] = async (name, key) => this.memory.reset(name, key)
  block: AsyncStore['block'] = async (name, key, durationUs) => this.memory.block(name, key, durationUs)
}
