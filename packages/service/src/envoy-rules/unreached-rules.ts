import type { FieldReader } from './field-reader.js'
import type { Rule } from './rule.js'

/** Warns of rules in one list that no descriptor reaches, because `value: '*'` of their key comes first and fits every value. */
export class UnreachedRules {
  /** Keys with `value: '*'`. */
  readonly #taken = new Set<string>()
  /** Rules for any value, by their key: they come last wherever they stand. */
  readonly #bare = new Map<string, FieldReader>()

  /** Call with each rule, in the order of the file. */
  add({ key, test }: Rule, fields: FieldReader): void {
    const fitsAll = test.kind === 'wildcard' && test.parts.every((part) => part === '')
    if (test.kind === 'any') this.#bare.set(key, fields)
    const isTaken = this.#taken.has(key) && test.kind !== 'exact'
    if (fitsAll) this.#taken.add(key)
    if (isTaken) warn(fields)
    else if (fitsAll) {
      const bare = this.#bare.get(key)
      if (bare !== undefined) warn(bare)
    }
  }
}

function warn(fields: FieldReader): void {
  fields.warn("this rule never applies: the rule with value '*' for the same key fits every value and comes first")
}
