import type { Algorithm, Limit } from 'sluice/limits'
import { algorithmKnobs } from '../parts/algorithm-knobs.js'
import { algorithmWords } from '../parts/limit-words.js'

/** The numbers of a limit as they are typed: texts by the name of the option. */
export interface TypedLimit {
  readonly algorithm: Algorithm
  readonly numbers: Readonly<Record<string, string>>
}

/** The draft of a limit, to change it. */
export function draftOf({ algorithm, ...numbers }: Limit): TypedLimit {
  return {
    algorithm,
    numbers: Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)])),
  }
}

/** Another algorithm for a draft. Numbers that both have stay; the others are examples. */
export function withAlgorithm(draft: TypedLimit, algorithm: Algorithm): TypedLimit {
  const { align } = draft.numbers
  const kept = align !== undefined && algorithm.endsWith('window') ? { align } : {}
  const numbers = algorithmKnobs(algorithm).map(({ option, example }) => [option, draft.numbers[option] ?? example])
  return { algorithm, numbers: { ...kept, ...Object.fromEntries(numbers) } }
}

/** The limit as the service takes it. Whole numbers become numbers; the service says what is wrong with the rest. */
export function limitOfDraft({ algorithm, numbers }: TypedLimit): object {
  const isWhole = new Set(
    algorithmKnobs(algorithm)
      .filter(({ form }) => form === 'count')
      .map(({ option }) => option),
  )
  const given = Object.entries(numbers).filter(([, text]) => text.trim() !== '')
  const read = (name: string, text: string) => (isWhole.has(name) && /^\d{1,16}$/.test(text) ? Number(text) : text)
  return { algorithm, ...Object.fromEntries(given.map(([name, text]) => [name, read(name, text.trim())])) }
}

/** The draft in a sentence, right or wrong: `token bucket with capacity 20, refill 5/s`. */
export function draftWords({ algorithm, numbers }: TypedLimit): string {
  const parts = Object.entries(numbers).map(([name, text]) => `${name} ${text}`)
  const name = algorithmWords(algorithm)
  return parts.length === 0 ? name : `${name} with ${parts.join(', ')}`
}
