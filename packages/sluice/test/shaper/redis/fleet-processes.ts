import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const WORKER = fileURLToPath(new URL('./fleet-worker.mjs', import.meta.url))

/** A caller had a turn. */
export interface Departure {
  /** The slot, by Redis's clock. */
  readonly atMs: number
  /** When it really was, in whole milliseconds, rounded down. */
  readonly leftMs: number
}

interface FleetOptions {
  readonly port: number
  readonly shaper: { readonly name: string; readonly drain: string; readonly capacity: number }
  /** How many callers each process has. */
  readonly callers: readonly number[]
}

/** Processes that share a shaper, each with callers that always want another turn. */
export class ShaperFleet {
  /** The departures that each process has reported so far. */
  readonly departures: Departure[][]
  readonly #children: ChildProcess[]

  /** Starts the processes, and their callers once all processes are ready. */
  static async start(options: FleetOptions): Promise<ShaperFleet> {
    const fleet = new ShaperFleet(options)
    await Promise.all(fleet.#children.map((child) => once(child, 'message')))
    fleet.#begin()
    return fleet
  }

  private constructor({ callers, ...rest }: FleetOptions) {
    this.departures = callers.map(() => [])
    this.#children = callers.map((each) => fork(WORKER, [JSON.stringify({ ...rest, callers: each })]))
  }

  /** All departures, by their slots. */
  get sorted(): Departure[] {
    return this.departures.flat().sort((one, other) => one.atMs - other.atMs)
  }

  async kill(process: number): Promise<void> {
    const child = this.#children[process]
    const gone = once(child, 'close')
    child.kill('SIGKILL')
    await gone
  }

  /** Waiters still have their turns, and no other callers come. */
  async stop(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const gone = once(child, 'close')
        child.send('stop')
        await gone
      }),
    )
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  #begin(): void {
    for (const [i, child] of this.#children.entries()) {
      child.on('message', (departure: Departure) => this.departures[i].push(departure))
      child.send('begin')
    }
  }
}
