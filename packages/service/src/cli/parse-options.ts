import { parseArgs } from 'node:util'
import { nearestName } from 'sluice'
import { type CommandOption, UsageError } from './command.js'

type Options = Readonly<Record<string, CommandOption>>
/** A flag is `true`; an option with a value is its text. */
type Values<O extends Options> = { -readonly [Name in keyof O]?: O[Name] extends { value: string } ? string : true }

/** Splits arguments into options and positionals. An unknown or incomplete option is a `UsageError`. */
export function parseOptions<const O extends Options>(
  args: readonly string[],
  table: O,
  short: Readonly<Record<string, string>> = {},
): { readonly values: Values<O>; readonly positionals: readonly string[] } {
  const options = Object.fromEntries(
    Object.entries(table).map(([name, { value }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string' } as const,
    ]),
  )
  const { tokens, positionals } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const values: Record<string, string | true> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { rawName, value } = token
    const name = short[token.name] ?? token.name
    if (!Object.hasOwn(table, name)) throw new UsageError(unknown(rawName, Object.keys(table)))
    if (name in values) throw new UsageError(`${rawName} is given twice`)
    const isFlag = table[name].value === undefined
    if (isFlag && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    if (!isFlag && value === undefined) throw new UsageError(`${rawName} needs a value`)
    values[name] = value ?? true
  }
  return { values: values as Values<O>, positionals }
}

function unknown(rawName: string, names: readonly string[]): string {
  const meant = nearestName(rawName.replace(/^-+/, ''), names)
  const all = names.map((name) => `--${name}`).join(', ')
  return `there is no option ${rawName}; ${meant === undefined ? `there are ${all}` : `did you mean --${meant}?`}`
}
