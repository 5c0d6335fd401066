import { type AsyncStore, type Limit, type NamedLimit, parseLimit, type SyncStore } from 'sluice'
import { Problem } from '../server/problem.js'

/** The start of every name that a client's limit has in the store. The name of a policy cannot begin with `#`. */
const PREFIX = '#client/'
/** A store never forgets a name, so clients together may use this many names and limits. */
const MOST_LIMITS = 10_000
/** Texts that are remembered, to read a name or limit only once. */
const MOST_TEXTS = 10_000

/** The names and limits that clients bring. Reads each once, and bounds how many the store gets to know. */
export class ClientLimits {
  readonly #store: SyncStore | AsyncStore
  /** By their JSON text, and by the client's text. Emptied when they are full. */
  readonly #limits = new Map<string, Limit>()
  readonly #names = new Map<string, string>()
  /** The names under which the store knows a limit. */
  readonly #admitted = new WeakMap<Limit, Set<string>>()
  /** Every name and limit that the store knows. */
  readonly #known = new Set<string>()

  constructor(store: SyncStore | AsyncStore) {
    this.#store = store
  }

  /** Reads a limit from plain data. Throws the library's error if it is none. */
  limit(value: unknown): Limit {
    // A value with lists or objects inside is no limit, and may be nested so deep that it cannot be written as text.
    if (!isFlat(value)) return parseLimit(value)
    const text = JSON.stringify(value)
    let limit = this.#limits.get(text)
    if (limit === undefined) {
      limit = parseLimit(value)
      if (this.#limits.size >= MOST_TEXTS) this.#limits.clear()
      this.#limits.set(text, limit)
    }
    return limit
  }

  /** The name that a client's limit has in the store. */
  name(text: string): string {
    let name = this.#names.get(text)
    if (name === undefined) {
      name = PREFIX + text
      if (this.#names.size >= MOST_TEXTS) this.#names.clear()
      this.#names.set(text, name)
    }
    return name
  }

  /** Lets the store know a limit. Throws a `Problem` if clients use too many. */
  admit(named: NamedLimit): void {
    const { name, limit } = named
    let names = this.#admitted.get(limit)
    if (names?.has(name) === true) return
    const text = `${JSON.stringify(limit)} ${name}`
    if (!this.#known.has(text)) {
      if (this.#known.size >= MOST_LIMITS) throw tooManyLimits()
      this.#known.add(text)
      this.#store.prepare?.(named)
    }
    names ??= new Set()
    this.#admitted.set(limit, names)
    names.add(name)
  }
}

function isFlat(value: unknown): boolean {
  return typeof value === 'object' && Object.values(value ?? {}).every((member) => typeof member !== 'object')
}

function tooManyLimits(): Problem {
  return new Problem(
    503,
    'Clients use too many limits',
    `clients together use ${MOST_LIMITS.toLocaleString('en')} names and limits, and the service takes no more until it is ` +
      'restarted; put whatever varies from request to request into the key, not into the name',
  )
}
