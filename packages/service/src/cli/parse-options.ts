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
    if (!Object.hasOwn(table, name)) throw new UsageError(unknown(rawName, table))
    if (name in values) throw new UsageError(`${rawName} is given twice`)
    const isFlag = table[name].value === undefined
    if (isFlag && value !== undefined) throw new UsageError(`${rawName} takes no value`)
    if (!isFlag && value === undefined) throw new UsageError(`${rawName} needs a value`)
    values[name] = value ?? true
  }
  return { values: values as Values<O>, positionals }
}

function unknown(rawName: string, table: Options): string {
  const names = Object.keys(table)
  const others = Object.fromEntries(names.map((name) => [name, table[name].others ?? []]))
  const meant = meantName(rawName.replace(/^-+/, ''), names, others)
  if (meant === undefined)
    return `there is no option ${rawName}; there are ${names.map((name) => `--${name}`).join(', ')}`
  const { value } = table[meant]
  return `there is no option ${rawName}; did you mean --${meant}${value === undefined ? '' : ` ${value}`}?`
}

/** Other names that people try for a name: `{ http: ['port'] }`. They are suggested from, and do not work themselves. */
type OtherNames = Readonly<Record<string, readonly string[]>>

/**
 * The name that a misspelt or shortened one probably means; `undefined` if none is close. With the names `policy` and `http`,
 * and `port` as another name of `http`: `pol` is `policy`, `htpp` is `http`, and `prot` is `http`.
 */
export function meantName(typed: string, names: readonly string[], others: OtherNames = {}): string | undefined {
  const longer = names.filter((name) => name.startsWith(typed))
  if (typed.length > 1 && longer.length === 1) return longer[0]
  const spellings = new Map<string, string>()
  for (const [name, more] of Object.entries(others)) for (const each of more) spellings.set(each, name)
  for (const name of names) spellings.set(name, name)
  const nearest = nearestName(typed, [...names, ...spellings.keys()])
  return nearest === undefined ? undefined : spellings.get(nearest)
}
