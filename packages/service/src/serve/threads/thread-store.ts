import {
  type Answer,
  type Clock,
  type Decision,
  type Demand,
  InvalidValueError,
  type Limit,
  type LimitedKey,
  memoryStore,
  type NamedLimit,
  type Opening,
  type OpenReservation,
  type Reservations,
  type SyncOverrides,
  type SyncStore,
  type Taken,
} from 'sluice'
import { type SharedStore, type SharedStoreHandle, type SharedStoreStats, sharedStore } from 'sluice/shared'
import type { OpenedStore } from '../open-store.js'
import { refusalText } from './find-unkept-limits.js'
import type { FirstLink } from './first-link.js'
import { type Book, closingData, demandData, openingFrom, reservationFrom } from './question.js'
import { limitFrom, type OverrideChange, type SharedFact } from './shared-fact.js'

/** Joins the store of a service's threads. `claims` are kept apart, so that they take no room from reservations. */
export function openThreadStore(handle: SharedStoreHandle, link: FirstLink): OpenedStore {
  const table = sharedStore.attach(handle)
  const store = new ThreadStore(table, link, 'reservations')
  link.onFacts = (facts) => store.learn(facts)
  const claims = new ThreadStore(table, link, 'claims')
  return { store, claims, shown: 'memory', connected: async () => {}, close: async () => {} }
}

/**
 * The store of one thread of a service. It decides synchronously on the table that all threads share. The first thread
 * keeps what is not in the table: reservations, which this store asks it about, and run-time overrides, of which every
 * thread has a copy.
 */
export class ThreadStore implements SyncStore {
  readonly synchronous = true
  readonly blocksByRule = true
  readonly clock: Clock
  readonly reservations: Reservations
  readonly #table: SharedStore
  readonly #link: FirstLink
  /** Has the copies of overrides, and nothing else. */
  readonly #copies: ReturnType<typeof memoryStore>
  /** The names and limits that all threads know, as text. */
  readonly #told = new Set<string>()

  constructor(table: SharedStore, link: FirstLink, book: Book) {
    this.#table = table
    this.#link = link
    this.clock = table.clock
    this.#copies = memoryStore({ clock: table.clock })
    this.reservations = askedReservations(link, book)
  }

  stats(): SharedStoreStats {
    return this.#table.stats()
  }

  /** Hears of overrides and limits of other threads. */
  learn(facts: readonly SharedFact[]): void {
    for (const fact of facts) {
      if ('limit' in fact) this.#learnLimit(fact.limit)
      else this.#learnOverride(fact.override)
    }
  }

  /** Throws for a limit that the table cannot keep. */
  prepare(named: NamedLimit): void {
    try {
      this.#table.prepare(named)
    } catch (error) {
      throw error instanceof InvalidValueError ? new InvalidValueError(refusalText(error), { option: 'limit' }) : error
    }
    const { name, limit } = named
    const text = textOf(name, limit)
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#link.tell({ limit: { name, limit } })
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Decision {
    return this.#table.decideOne(name, limit, key, cost)
  }

  decide(demands: readonly Demand[]): Answer {
    return this.#table.decide(demands)
  }

  peekOne(name: string, limit: Limit, key: string, cost: number): Decision {
    return this.#table.peekOne(name, limit, key, cost)
  }

  peek(demands: readonly Demand[]): Answer {
    return this.#table.peek(demands)
  }

  charge(demand: Demand): Decision {
    return this.#table.charge(demand)
  }

  refund(demand: Demand, taken: Taken | undefined): Decision {
    return this.#table.refund(demand, taken)
  }

  set(limited: LimitedKey, remaining: number): Decision {
    return this.#table.set(limited, remaining)
  }

  reset(name: string, key: string): void {
    this.#table.reset(name, key)
  }

  block(name: string, key: string, durationUs: number): void {
    this.#table.block(name, key, durationUs)
  }

  /** Resolves a change when the first thread has told every thread of it. */
  overrides(policy: string): SyncOverrides {
    const copy = this.#copies.overrides(policy)
    const link = this.#link
    return {
      get size() {
        return copy.size
      },
      get: (level, key) => copy.get(level, key),
      entries: () => copy.entries(),
      refresh: () => true,
      set: (level, key, limits, untilMs) => link.ask({ override: { policy, level, key, limits, untilMs } }),
    }
  }

  #learnOverride({ policy, level, key, limits, untilMs }: OverrideChange): void {
    const copy = this.#copies.overrides(policy)
    // It may have ended on the way, and a table takes none that has.
    if (untilMs !== undefined && untilMs <= this.clock.now()) copy.set(level, key, undefined, undefined)
    else copy.set(level, key, limits?.map(limitFrom), untilMs)
  }

  #learnLimit({ name, limit: data }: NamedLimit): void {
    const limit = limitFrom(data)
    this.#told.add(textOf(name, limit))
    this.#table.prepare({ name, limit })
  }
}

function textOf(name: string, limit: Limit): string {
  return `${JSON.stringify(limit)} ${name}`
}

/** Reservations that the first thread keeps. */
function askedReservations(link: FirstLink, book: Book): Reservations {
  return {
    tellsFailures: true,
    open: async (id, demands, ttlMs, data) =>
      openingFrom(await link.ask<Opening>({ open: [id, demands.map(demandData), ttlMs, data], in: book })),
    find: async (id) => {
      const found = await link.ask<OpenReservation | undefined>({ find: id, in: book })
      return found && reservationFrom(found)
    },
    close: (reservation, corrections) => link.ask({ close: closingData(reservation, corrections), in: book }),
  }
}
