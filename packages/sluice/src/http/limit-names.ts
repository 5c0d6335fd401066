import { InvalidValueError } from '../errors.js'

/** Where a limit counts, under which name and by which rules. */
export interface LimitCounts {
  /** The store. Two limits with one source and one name count in the same states. */
  readonly source: object
  readonly name: string
  /** The limit and what happens when it is exceeded, as a text to compare. */
  readonly rules: string
}

interface KnownLimit {
  readonly where: string
  readonly rules: string
}

/**
 * The names of the limits of one application, on their stores. Two limits with one name on one store share their counts. That
 * is meant if they are the same limit; with different numbers it is a mistake, which lets one limit use up the units of the other.
 */
export class LimitNames {
  readonly #bySource = new WeakMap<object, Map<string, KnownLimit>>()

  /** Notes a limit, and throws if another limit has its name. `where` is what errors call the limit. Policies have no counts. */
  add(where: string, counts: LimitCounts | undefined): void {
    if (counts === undefined) return
    const { source, name, rules } = counts
    const byName = this.#bySource.get(source) ?? new Map<string, KnownLimit>()
    const known = byName.get(name)
    if (known !== undefined && known.rules !== rules)
      throw new InvalidValueError(
        `${known.where} and ${where} have one name, '${name}', on one store, and different limits, which would share their ` +
          'counts: give each a name of its own, or give both the same limit if they are to share one count',
        { option: 'name' },
      )
    this.#bySource.set(source, byName.set(name, known ?? { where, rules }))
  }
}
