/**
 * What a person has typed, as texts, right or wrong. A traffic and a limit are each a kind and its values: a limit of the kind
 * `token-bucket` has `capacity` and `refill`.
 */
export interface Draft<Kind extends string = string> {
  readonly kind: Kind
  readonly values: Readonly<Record<string, string>>
}

/** How a value is typed: a whole number, a rate such as `5/s`, a duration such as `1m`, one of a few words, or lines of text. */
export type KnobForm = 'count' | 'rate' | 'duration' | 'choice' | 'text'

/** A value that a person sets. */
export interface Knob {
  /** As the library calls it, so that its errors name it. */
  readonly name: string
  readonly label: string
  readonly form: KnobForm
  /** What is counted: `tokens`. */
  readonly unit?: string
  readonly first: string
  /** The ends of the slider. Larger and smaller values can be typed. */
  readonly least?: number
  readonly most?: number
  readonly choices?: readonly string[]
}

/** A value that cannot be used, and what would be right. */
export class DraftProblem extends Error {
  override readonly name = 'DraftProblem'
  /** The knob that it is about, if it is about one. */
  readonly knob: string | undefined

  constructor(message: string, knob: string | undefined) {
    super(message)
    this.knob = knob
  }
}

/** Runs `read`, and turns an error of the library into a problem of the knob that it names. */
export function readingDraft<Value>(read: () => Value): Value | DraftProblem {
  try {
    return read()
  } catch (error) {
    if (error instanceof DraftProblem) return error
    if (!(error instanceof Error)) throw error
    const { option } = error as { readonly option?: unknown }
    return new DraftProblem(sentence(error.message), typeof option === 'string' ? option : undefined)
  }
}

/** A draft of a kind with the first value of every knob that is not given. */
export function draftOf<Kind extends string>(
  kind: Kind,
  knobs: readonly Knob[],
  given: Readonly<Record<string, string>>,
): Draft<Kind> {
  return { kind, values: Object.fromEntries(knobs.map(({ name, first }) => [name, given[name] ?? first])) }
}

/** A number that is written as one; otherwise the text itself, so that an error shows it. */
export function numberOrText(text: string): number | string {
  const trimmed = text.trim()
  return trimmed !== '' && Number.isFinite(Number(trimmed)) ? Number(trimmed) : text
}

function sentence(text: string): string {
  const end = /[.!?]$/.test(text) ? '' : '.'
  return `${text[0].toUpperCase()}${text.slice(1)}${end}`
}
