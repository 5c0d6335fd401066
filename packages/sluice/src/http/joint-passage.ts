import type { Clock } from '../clock.js'
import type { Verdict } from '../policy/index.js'
import type { Description } from './describe.js'
import type { Fields } from './dialect.js'
import { mergeFields } from './merge-fields.js'
import type { HeldUnits, Passage } from './passage.js'

/** The answer to a request for an adapter: of one limit, or of several that decide together. */
export type AnyPassage = Passage | JointPassage

/**
 * The passages of one request through several limits that decide together, as one. The last limit has the last word: the
 * limits before it have allowed the request.
 */
export class JointPassage implements Description {
  /** See {@link Passage.isPlain}. */
  readonly isPlain = false
  readonly #passages: readonly Passage[]
  readonly #last: Passage
  readonly #slowest: Passage

  constructor(before: readonly Passage[], last: Passage) {
    this.#passages = [...before, last]
    this.#last = last
    this.#slowest = this.#passages.reduce((one, other) => (other.delayMs > one.delayMs ? other : one))
  }

  get onDenied(): unknown {
    return this.#last.onDenied
  }

  get allowed(): boolean {
    return this.#last.allowed
  }

  get delayMs(): number {
    return this.#slowest.delayMs
  }

  get clock(): Clock {
    return this.#slowest.clock
  }

  get goesAtOnce(): boolean {
    return this.#passages.every(({ goesAtOnce }) => goesAtOnce)
  }

  /** The verdict of the last limit. */
  get verdict(): Verdict {
    return this.#last.verdict
  }

  get status(): number {
    return this.#last.status
  }

  /** The fields of all limits, each beside those of the others. */
  get headers(): Readonly<Fields> {
    const all: Fields = {}
    const names = new Map<string, string>()
    for (const { headers } of this.#passages) {
      const fields = mergeFields(headers, (name) => all[names.get(name) ?? ''])
      for (const name in fields) {
        all[name] = fields[name]
        names.set(name.toLowerCase(), name)
      }
    }
    return all
  }

  get body(): string | undefined {
    return this.#last.body
  }

  get settle(): HeldUnits['settle'] {
    const all = this.#passages.map(({ settle }) => settle).filter((each) => each !== undefined)
    if (all.length === 0) return undefined
    return (ending, response) => {
      for (const settle of all) settle(ending, response)
    }
  }

  cancel(): void {
    for (const each of this.#passages) each.cancel()
  }
}
