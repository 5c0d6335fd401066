import { type Awaitable, memoryStore, type NamedLimit, type Reservations, reservationsOf } from 'sluice'
import { PrometheusText } from 'sluice/metrics'
import { sharedStore } from 'sluice/shared'
import { writeProcess } from '../../recorder/process-figures.js'
import { writeStoreHealth } from '../../recorder/store-health.js'
import type { FleetCentre, FleetWorker } from '../fleet-worker.js'
import { type Log, repeatLine } from '../log.js'
import type { FromThread } from '../to-worker.js'
import { type Book, correctionFrom, demandFrom, type Question, reservationFrom, toldError } from './question.js'
import type { OverrideChange, SharedFact } from './shared-fact.js'

/**
 * The first of a service's threads. It serves no request. It makes the table that all threads decide on, and keeps what is
 * not in the table and what a thread must not take along when it dies: reservations, idempotency keys of refunds, and
 * run-time overrides.
 */
export class FirstThread implements FleetCentre {
  readonly table = sharedStore()
  readonly #books: Readonly<Record<Book, Reservations>>
  /** Has the overrides, and nothing else. */
  readonly #overrides = memoryStore({ clock: this.table.clock })
  readonly #policies = new Set<string>()
  /** Every limit that a thread has used, by its text. A thread that starts later learns them. */
  readonly #limits = new Map<string, NamedLimit>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
    // A store keeps a bounded number of reservations: refunds, whose keys stay for an hour, take no room from others.
    this.#books = { reservations: reservationsOf(this.table), claims: reservationsOf(memoryStore()) }
  }

  greet(worker: FleetWorker): void {
    worker.send({ facts: this.#facts() })
  }

  hear(message: FromThread, speaker: FleetWorker, workers: Iterable<FleetWorker>): void {
    if ('logged' in message) repeatLine(this.#log, message.logged)
    else if ('fact' in message) this.#learn(message.fact.limit, workers)
    else void this.#answer(message.asked, message.question, speaker, workers)
  }

  /** The figures of the table and of the process, which are the same in every thread. */
  metrics(): string {
    const text = new PrometheusText()
    writeStoreHealth(text, { kind: 'memory', ...this.table.stats() })
    writeProcess(text)
    return text.toString()
  }

  async #answer(
    asked: number,
    question: Question,
    speaker: FleetWorker,
    workers: Iterable<FleetWorker>,
  ): Promise<void> {
    try {
      speaker.send({ answered: asked, value: await this.#carryOut(question, workers) })
    } catch (error) {
      speaker.send({ answered: asked, error: toldError(error) })
    }
  }

  #carryOut(question: Question, workers: Iterable<FleetWorker>): Awaitable<unknown> {
    if ('override' in question) return this.#override(question.override, workers)
    const book = this.#books[question.in]
    if ('find' in question) return book.find(question.find)
    if ('open' in question) {
      const [id, demands, ttlMs, data] = question.open
      return book.open(id, demands.map(demandFrom), ttlMs, data)
    }
    const [reservation, corrections] = question.close
    return book.close(reservationFrom(reservation), corrections.map(correctionFrom))
  }

  /** Sets an override here, and tells every thread. A thread gets its messages in order, so the speaker knows it first. */
  #override(change: OverrideChange, workers: Iterable<FleetWorker>): void {
    const { policy, level, key, limits, untilMs } = change
    this.#overrides.overrides(policy).set(level, key, limits, untilMs)
    this.#policies.add(policy)
    for (const worker of workers) worker.send({ facts: [{ override: change }] })
  }

  #learn(limit: NamedLimit, workers: Iterable<FleetWorker>): void {
    const text = JSON.stringify(limit)
    if (this.#limits.has(text)) return
    this.#limits.set(text, limit)
    for (const worker of workers) worker.send({ facts: [{ limit }] })
  }

  #facts(): readonly SharedFact[] {
    const overrides = [...this.#policies].flatMap((policy) =>
      [...this.#overrides.overrides(policy).entries()].map(({ untilMs, ...entry }) => ({
        override: { policy, ...entry, untilMs: untilMs === Infinity ? undefined : untilMs },
      })),
    )
    return [...[...this.#limits.values()].map((limit) => ({ limit })), ...overrides]
  }
}
