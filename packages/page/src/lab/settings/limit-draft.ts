import { type Limit, parseLimit } from 'sluice/limits'
import { type Draft, type DraftProblem, draftOf, type Knob, numberOrText, readingDraft } from './draft.js'

/** The algorithms of the lab. A concurrency limit counts work that lasts, which arrivals alone do not say. */
export const LAB_ALGORITHMS = ['token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const

export type LabAlgorithm = (typeof LAB_ALGORITHMS)[number]

export type LimitDraft = Draft<LabAlgorithm>

/** An algorithm as a person reads it. */
export const ALGORITHM_WORDS: Readonly<Record<LabAlgorithm, string>> = {
  'token-bucket': 'Token bucket',
  'leaky-bucket': 'Leaky bucket',
  'fixed-window': 'Fixed window',
  'sliding-window': 'Sliding window',
  'sliding-log': 'Sliding log',
}

/** What an algorithm does, in a line. */
export const ALGORITHM_ABOUT: Readonly<Record<LabAlgorithm, string>> = {
  'token-bucket': 'Lets a burst through, then a steady rate.',
  'leaky-bucket': 'Makes requests wait, and lets them go at a steady rate.',
  'fixed-window': 'Counts each window from 0; up to twice the quota at a boundary.',
  'sliding-window': 'Estimates the last window from a few counts.',
  'sliding-log': 'Remembers every request; exact in any window.',
}

const LARGEST = { least: 1, most: 10_000 }
const capacity = { name: 'capacity', label: 'Capacity', form: 'count', first: '100', ...LARGEST } as const
const quota: Knob = { name: 'quota', label: 'Quota', form: 'count', unit: 'requests', first: '100', ...LARGEST }
const window: Knob = { name: 'window', label: 'Window', form: 'duration', first: '1m', least: 1, most: 1_000 }
const RATES = { least: 0.01, most: 10_000 }
const align: Knob = {
  name: 'align',
  label: 'Windows begin',
  form: 'choice',
  first: 'epoch',
  choices: ['epoch', 'first'],
}

const KNOBS: Readonly<Record<LabAlgorithm, readonly Knob[]>> = {
  'token-bucket': [
    { ...capacity, unit: 'tokens' },
    { name: 'refill', label: 'Refill', form: 'rate', first: '10/s', ...RATES },
  ],
  'leaky-bucket': [
    { ...capacity, unit: 'places' },
    { name: 'drain', label: 'Drain', form: 'rate', first: '10/s', ...RATES },
  ],
  'fixed-window': [quota, window, align],
  'sliding-window': [
    quota,
    window,
    { name: 'slices', label: 'Slices', form: 'count', first: '1', least: 1, most: 100 },
    align,
  ],
  'sliding-log': [quota, window],
}

/** The values of an algorithm, in the order of its link. */
export function limitKnobs(algorithm: LabAlgorithm): readonly Knob[] {
  return KNOBS[algorithm]
}

/** A draft of a limit: `limitDraft('token-bucket', { capacity: '20', refill: '5/s' })`. */
export function limitDraft(algorithm: LabAlgorithm, given: Readonly<Record<string, string>> = {}): LimitDraft {
  return draftOf(algorithm, KNOBS[algorithm], given)
}

/** The limit that a draft describes, or the library's own word on what is wrong with it. */
export function limitOf({ kind, values }: LimitDraft): Limit | DraftProblem {
  const options = KNOBS[kind].map(({ name, form }) => [
    name,
    form === 'count' ? numberOrText(values[name]) : values[name],
  ])
  return readingDraft(() => parseLimit({ algorithm: kind, ...Object.fromEntries(options) }))
}
