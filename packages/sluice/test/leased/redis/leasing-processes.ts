import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Limit } from 'sluice'
import type { Span } from '../../simulator/span-law.js'

const WORKER = fileURLToPath(new URL('./leasing-worker.mjs', import.meta.url))

interface Report {
  readonly asked: number
  readonly calls: number
}

/** Processes that lease units of one key from a Redis server, and ask for more than it has. */
export class LeasingProcesses {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluice-leasing-'))
  readonly #children: ChildProcess[]

  constructor(count: number, port: number, limit: Limit) {
    this.#children = Array.from({ length: count }, (_, i) =>
      fork(WORKER, [JSON.stringify({ port, limit, log: this.#log(i) })]),
    )
  }

  /** Resolves when all of them ask. */
  async started(): Promise<void> {
    await Promise.all(this.#children.map((child) => once(child, 'message')))
  }

  /** Kills a process outright. It gives nothing back. */
  async kill(index: number): Promise<void> {
    const child = this.#children[index]
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Ends the processes that live, and returns their reports. */
  end(): Promise<Report[]> {
    const alive = this.#children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    return Promise.all(
      alive.map(async (child) => {
        const report = once(child, 'message')
        child.send('end')
        const [said] = await report
        return said as Report
      }),
    )
  }

  /** What the processes have admitted until now, also those that were killed. */
  spans(): Span[] {
    return this.#children.flatMap((_, i) => {
      const lines = readFileSync(this.#log(i), 'utf8').split('\n').slice(0, -1)
      return lines.map((line) => {
        const [sentUs, answeredUs] = line.split(' ').map(Number)
        return { sentUs, answeredUs }
      })
    })
  }

  stop(): void {
    for (const child of this.#children) child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #log(index: number): string {
    return join(this.#folder, `${index}.log`)
  }
}

/** The time by the clock of the logs. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}
