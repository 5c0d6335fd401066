import { type AsyncStore, type MemoryStore, memoryStore, type Store } from 'sluice'
import type { ManualClock } from 'sluice/testing'

type Method = 'decide' | 'peek' | 'charge' | 'refund' | 'set' | 'reset' | 'block'

/** What becomes of a call: it is answered, lost before the store has run it, or run and its answer lost. */
export type Fate = 'answered' | 'lost' | 'answer lost'

/** A memory store as a server that several nodes share: it answers later, or not at all, and counts the calls. */
export class SharedMemory implements AsyncStore {
  readonly blocksByRule = true
  readonly clock: ManualClock
  readonly memory: MemoryStore
  readonly calls: Method[] = []
  readonly overrides: NonNullable<Store['overrides']>
  /** How long a call takes to the store, and the same back, in milliseconds. */
  travelMs: () => number = () => 0
  fate: (method: Method) => Fate = () => 'answered'
  underway = 0
  /** The most calls that were under way at a time. */
  mostUnderway = 0

  constructor(clock: ManualClock) {
    this.clock = clock
    this.memory = memoryStore({ clock })
    this.overrides = (policy) => this.memory.overrides(policy)
  }

  decide: AsyncStore['decide'] = (demands) => this.#run('decide', () => this.memory.decide(demands))
  peek: AsyncStore['peek'] = (demands) => this.#run('peek', () => this.memory.peek(demands))
  charge: AsyncStore['charge'] = (demand) => this.#run('charge', () => this.memory.charge(demand))
  refund: AsyncStore['refund'] = (demand, taken) => this.#run('refund', () => this.memory.refund(demand, taken))
  set: AsyncStore['set'] = (limited, remaining) => this.#run('set', () => this.memory.set(limited, remaining))
  reset: AsyncStore['reset'] = (name, key) => this.#run('reset', () => this.memory.reset(name, key))
  block: AsyncStore['block'] = (name, key, us) => this.#run('block', () => this.memory.block(name, key, us))

  /** How often a method was called. */
  count(method: Method): number {
    return this.calls.filter((each) => each === method).length
  }

  async #run<T>(method: Method, run: () => T): Promise<T> {
    this.calls.push(method)
    this.underway++
    this.mostUnderway = Math.max(this.mostUnderway, this.underway)
    try {
      return await this.#carry(this.fate(method), run)
    } finally {
      this.underway--
    }
  }

  async #carry<T>(fate: Fate, run: () => T): Promise<T> {
    const travelMs = this.travelMs()
    if (travelMs > 0) await this.#travel(travelMs)
    if (fate === 'lost') throw new Error('the call was lost')
    const answer = run()
    if (travelMs > 0) await this.#travel(travelMs)
    if (fate === 'answer lost') throw new Error('the answer was lost')
    return answer
  }

  #travel(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.alarm(this.clock.now() + ms, resolve))
  }
}
