import type { InspectQuestion } from '../../../service/src/live/inspect-answer.js'

/** What the person asks about, as the address keeps it: `#inspect?a.method=POST&a.merchant=acct_1&cost=2`. */
export interface AskedRequest {
  /** Attributes by name, in the order in which they were typed. Values are not empty. */
  readonly attributes: Readonly<Record<string, string>>
  /** The cost as it was typed, or empty for the default. */
  readonly cost: string
  /** The id of a recent request. Then `attributes` are not asked about. */
  readonly recent: string | undefined
  /** Is the question asked again every second? */
  readonly follows: boolean
  /** The level whose lines of the policy are shown. */
  readonly level: string | undefined
}

const ATTRIBUTE = 'a.'

/** Reads the values of an address. What cannot be read is left out. */
export function readAskedRequest(values: Readonly<Record<string, string>>): AskedRequest {
  const attributes = Object.entries(values)
    .filter(([name, value]) => name.length > ATTRIBUTE.length && name.startsWith(ATTRIBUTE) && value !== '')
    .map(([name, value]) => [name.slice(ATTRIBUTE.length), value])
  return {
    attributes: Object.fromEntries(attributes),
    cost: values.cost ?? '',
    recent: values.recent,
    follows: values.follow !== 'off',
    level: values.level,
  }
}

/** The values of an address for these attributes; takes away those `before` that are gone. */
export function attributeValues(
  attributes: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> {
  const gone = Object.keys(before).map((name) => [ATTRIBUTE + name, undefined])
  const given = Object.entries(attributes).map(([name, value]) => [ATTRIBUTE + name, value])
  return Object.fromEntries([...gone, ...given])
}

/** What is wrong with a cost as it was typed; `undefined` if nothing is. */
export function costProblem(cost: string): string | undefined {
  if (cost === '' || (/^\d{1,16}$/.test(cost) && Number.isSafeInteger(Number(cost)))) return undefined
  return 'A cost is a whole number from 0, such as 1.'
}

/** The question to the service. */
export function questionOf({ attributes, cost, recent }: AskedRequest): InspectQuestion {
  const costs = cost === '' ? {} : { cost: Number(cost) }
  return recent === undefined ? { attributes, ...costs } : { recent, ...costs }
}
