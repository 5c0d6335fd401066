import {
  addressText,
  type Condition,
  createPolicy,
  fixedWindow,
  type Level,
  type Policy,
  type ReadCondition,
  type ReadLevel,
} from 'sluice'

/** A text that stands for any text. */
const ANY_TEXT = 'x'
/** A target that routers may read as any path. It meets every condition on a path, even `null`. */
const ANY_PATH = ':'
const ANY_LIMIT = fixedWindow({ quota: 1, window: '1s' })

/** A request that a level matches. */
type Sample = Readonly<Record<string, string | undefined>>

/**
 * Finds the levels that a level must be compared with, without comparing it with all of them. It makes up one request
 * that the level matches, a sample. A level that matches whenever the first one does must match the sample too, and a
 * policy finds the levels that match a request quickly.
 */
export class ComparableLevels {
  readonly #samples: ReadonlyMap<ReadLevel, Sample>
  readonly #byName: ReadonlyMap<string, ReadLevel>
  readonly #policy: Policy

  constructor(levels: readonly ReadLevel[]) {
    this.#samples = new Map(levels.map((level) => [level, sampleOf(level)]))
    this.#byName = new Map(levels.map((level) => [level.name, level]))
    const texts = new Set([...this.#samples.values()].flatMap(Object.values<string | undefined>))
    this.#policy = createPolicy({ levels: levels.map((level) => conditionsOnly(level, texts)) })
  }

  /** The level and those to compare it with, in the order of the policy. Empty if the level does not match its sample. */
  with(level: ReadLevel): readonly ReadLevel[] {
    const names = this.#policy.levelsFor(this.#samples.get(level) ?? {})
    return names.includes(level.name) ? names.flatMap((name) => this.#byName.get(name) ?? []) : []
  }
}

/** The level with its name, conditions and key, and nothing that takes long to read. */
function conditionsOnly({ name, key, conditions }: ReadLevel, texts: ReadonlySet<string | undefined>): Level {
  const when = conditions.flatMap((each): [string, Condition][] => {
    const condition = shortened(each, texts)
    return condition === undefined ? [] : [[each.attribute, condition]]
  })
  return { name, key, when: Object.fromEntries(when), limit: ANY_LIMIT }
}

/** The condition without texts that no sample has: there may be very many. `undefined` if it holds for every sample. */
function shortened(condition: ReadCondition, texts: ReadonlySet<string | undefined>): Condition | undefined {
  if (condition.kind !== 'text') return condition.written as Condition
  const { negated, orAbsent } = condition
  const some: (string | null)[] = orAbsent ? [null] : []
  for (const text of condition.texts) if (texts.has(text)) some.push(text)
  if (some.length === 0) return undefined
  return negated ? { not: some } : some
}

/** A level that excludes nearly all paths may not match this request. */
function sampleOf({ key, conditions }: ReadLevel): Sample {
  const request: Record<string, string | undefined> = Object.create(null)
  for (const attribute of key) request[attribute] = ANY_TEXT
  for (const condition of conditions) {
    const { attribute } = condition
    request[attribute] = condition.negated ? valueOutside(condition) : valueInside(condition)
    if (condition.kind === 'path' && key.includes(attribute)) request[attribute] ??= ANY_PATH
  }
  return request
}

/** A value that meets the condition's values; `undefined`, an absent attribute, if it has none. */
function valueInside(condition: ReadCondition): string | undefined {
  switch (condition.kind) {
    case 'text':
      return condition.texts.values().next().value
    case 'path':
      return condition.patterns[0] && pathOf(condition.patterns[0].segments)
    case 'address':
      return condition.ranges[0] && addressText(condition.ranges[0].network)
  }
}

/** A value that meets none of the condition's values. */
function valueOutside(condition: ReadCondition): string {
  switch (condition.kind) {
    case 'text':
      return textOutside(condition.texts)
    case 'path': {
      // A path with more segments than any pattern, of a name that no pattern has.
      const names = new Set(condition.patterns.flatMap(({ segments }) => segments))
      const depth = condition.patterns.reduce((most, { segments }) => Math.max(most, segments.length), 0) + 1
      return pathOf(new Array(depth).fill(textOutside(names)))
    }
    case 'address':
      // It is not an address, so no range contains it.
      return ANY_TEXT
  }
}

function textOutside(texts: ReadonlySet<string | undefined>): string {
  let text = ANY_TEXT
  while (texts.has(text)) text += ANY_TEXT
  return text
}

function pathOf(segments: readonly (string | undefined)[]): string {
  return `/${segments.map((segment) => segment ?? ANY_TEXT).join('/')}`
}
