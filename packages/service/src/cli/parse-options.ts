import { parseArgs } from 'node:util'
import { nearestName } from 'sluice'
import { UsageError } from './command.js'

/** A flag has no value; a text has one. */
type Kinds = Readonly<Record<string, 'flag' | 'text'>>
type Values<K extends Kinds> = { -readonly [Name in keyof K]?: K[Name] extends 'flag' ? true : string }

/** Splits arguments into options and positionals. An unknown or incomplete option is a `UsageError`. */
export function parseOptions<const K extends Kinds>(
  args: readonly string[],
  kinds: K,
  short: Readonly<Record<string, string>> = {},
): { readonly values: Values<K>; readonly positionals: readonly string[] } {
  const options = Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [name, { type: kind === 'flag' ? 'boolean' : 'string' } as const]),
  )
  const { tokens, positionals } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const values: Record<string, string | true> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { rawName, value } = token
    const name = short[token.name] ?? token.name
    if (!Object.hasOwn(kinds, name)) throw new UsageError(unknown(rawName, Object.keys(kinds)))
    if (name in values) throw new UsageError(`${rawName} is given twice`)
    if (kinds[name] === 'flag' && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    if (kinds[name] === 'text' && value === undefined) throw new UsageError(`${rawName} needs a value`)
    values[name] = value ?? true
  }
  return { values: values as Values<K>, positionals }
}

function unknown(rawName: string, names: readonly string[]): string {
  const meant = nearestName(rawName.replace(/^-+/, ''), names)
  const all = names.map((name) => `--${name}`).join(', ')
  return `there is no option ${rawName}; ${meant === undefined ? `there are ${all}` : `did you mean --${meant}?`}`
}
