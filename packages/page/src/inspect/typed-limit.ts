import type { Algorithm, Limit } from 'sluice/limits'

/** The numbers of a limit as they are typed: texts by the name of the option. */
export interface TypedLimit {
  readonly algorithm: Algorithm
  readonly numbers: Readonly<Record<string, string>>
}

/** One number of an algorithm, as a field shows it. */
export interface LimitKnob {
  readonly option: string
  readonly label: string
  readonly kind: 'whole' | 'rate' | 'duration'
  readonly example: string
}

const WINDOW: LimitKnob = { option: 'window', label: 'Window', kind: 'duration', example: '1m' }
const QUOTA: LimitKnob = { option: 'quota', label: 'Quota', kind: 'whole', example: '100' }
const CAPACITY: LimitKnob = { option: 'capacity', label: 'Capacity', kind: 'whole', example: '100' }

/** The numbers that an algorithm asks for. */
export const KNOBS: Readonly<Record<Algorithm, readonly LimitKnob[]>> = {
  'token-bucket': [CAPACITY, { option: 'refill', label: 'Refill', kind: 'rate', example: '100/s' }],
  'leaky-bucket': [CAPACITY, { option: 'drain', label: 'Drain', kind: 'rate', example: '10/s' }],
  'fixed-window': [QUOTA, WINDOW],
  'sliding-window': [QUOTA, WINDOW, { option: 'slices', label: 'Slices', kind: 'whole', example: '1' }],
  'sliding-log': [QUOTA, WINDOW],
  concurrency: [
    { option: 'max', label: 'At the same time', kind: 'whole', example: '10' },
    { option: 'ttl', label: 'Each for at most', kind: 'duration', example: '30s' },
  ],
  unlimited: [],
}

/** What a person calls an algorithm. */
export const ALGORITHM_WORDS: Readonly<Record<Algorithm, string>> = {
  'token-bucket': 'token bucket',
  'leaky-bucket': 'leaky bucket',
  'fixed-window': 'fixed window',
  'sliding-window': 'sliding window',
  'sliding-log': 'sliding log',
  concurrency: 'concurrency',
  unlimited: 'unlimited',
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
  const numbers = KNOBS[algorithm].map(({ option, example }) => [option, draft.numbers[option] ?? example])
  return { algorithm, numbers: { ...kept, ...Object.fromEntries(numbers) } }
}

/** The limit as the service takes it. Whole numbers become numbers; the service says what is wrong with the rest. */
export function limitOfDraft({ algorithm, numbers }: TypedLimit): object {
  const isWhole = new Set(KNOBS[algorithm].filter(({ kind }) => kind === 'whole').map(({ option }) => option))
  const given = Object.entries(numbers).filter(([, text]) => text.trim() !== '')
  const read = (name: string, text: string) => (isWhole.has(name) && /^\d{1,16}$/.test(text) ? Number(text) : text)
  return { algorithm, ...Object.fromEntries(given.map(([name, text]) => [name, read(name, text.trim())])) }
}

/** The draft in a sentence, right or wrong: `token bucket with capacity 20, refill 5/s`. */
export function draftWords({ algorithm, numbers }: TypedLimit): string {
  const parts = Object.entries(numbers).map(([name, text]) => `${name} ${text}`)
  return parts.length === 0 ? ALGORITHM_WORDS[algorithm] : `${ALGORITHM_WORDS[algorithm]} with ${parts.join(', ')}`
}
