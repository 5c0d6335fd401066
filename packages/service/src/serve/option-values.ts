import { UsageError } from '../cli/command.js'

/** Texts by the names of options or of variables. A flag of the command line is `true`, as the text is in the environment. */
export type GivenValues = Readonly<Record<string, string | true | undefined>>

/** The values of options: those of the command line, and those of the environment for options that it leaves out. */
export class OptionValues {
  readonly #values: GivenValues
  readonly #env: GivenValues

  constructor(values: GivenValues, env: GivenValues) {
    this.#values = values
    this.#env = env
  }

  /** The text of an option; `undefined` if there is none. An empty variable counts as none. */
  text(name: string): string | undefined {
    const value = this.#values[name] ?? (this.#env[variableOf(name)] || undefined)
    return value === true ? 'true' : value
  }

  /** The option as the person wrote it, for messages: `--on-failure` or `SLUICE_ON_FAILURE`. */
  sourceOf(name: string): string {
    return this.#values[name] === undefined ? variableOf(name) : `--${name}`
  }

  /** A whole number. Throws a `UsageError` if the text is none, or is out of bounds. */
  whole(name: string, least: number, most: number): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new UsageError(
      `${this.sourceOf(name)} must be a whole number from ${least} to ${most}, got '${text.slice(0, 60)}'`,
    )
  }

  /** One of several texts. Throws a `UsageError` for any other. */
  oneOf<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name)
    if (text === undefined || choices.includes(text as T)) return text as T | undefined
    throw new UsageError(`${this.sourceOf(name)} must be ${choices.join(', ')}, got '${text.slice(0, 60)}'`)
  }
}

/** The variable of an option: `on-failure` is `SLUICE_ON_FAILURE`. */
export function variableOf(name: string): string {
  return `SLUICE_${name.toUpperCase().replaceAll('-', '_')}`
}
