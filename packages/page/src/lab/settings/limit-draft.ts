import { type Limit, parseLimit } from 'sluice/limits'
import { type AlgorithmKnob, algorithmKnobs } from '../../parts/algorithm-knobs.js'
import { type Draft, type DraftProblem, draftOf, type Knob, numberOrText, readingDraft } from './draft.js'

/** The algorithms of the lab. A concurrency limit counts work that lasts, which arrivals alone do not say. */
export const LAB_ALGORITHMS = ['token-bucket', 'leaky-bucket', 'fixed-window', 'sliding-window', 'sliding-log'] as const

export type LabAlgorithm = (typeof LAB_ALGORITHMS)[number]

export type LimitDraft = Draft<LabAlgorithm>

/** What an algorithm does, in a line. */
export const ALGORITHM_ABOUT: Readonly<Record<LabAlgorithm, string>> = {
  'token-bucket': 'Lets a burst through, then a steady rate.',
  'leaky-bucket': 'Makes requests wait, and lets them go at a steady rate.',
  'fixed-window': 'Counts each window from 0; up to twice the quota at a boundary.',
  'sliding-window': 'Estimates the last window from a few counts.',
  'sliding-log': 'Remembers every request; exact in any window.',
}

const ALIGN: Knob = {
  name: 'align',
  label: 'Windows begin',
  form: 'choice',
  first: 'epoch',
  choices: ['epoch', 'first'],
}

/** The ends of a slider. */
const ENDS = {
  count: { least: 1, most: 10_000 },
  rate: { least: 0.01, most: 10_000 },
  duration: { least: 1, most: 1_000 },
}

/** The values of an algorithm, in the order of its link. */
export function limitKnobs(algorithm: LabAlgorithm): readonly Knob[] {
  const knobs = algorithmKnobs(algorithm).map(labKnob)
  return algorithm === 'fixed-window' || algorithm === 'sliding-window' ? [...knobs, ALIGN] : knobs
}

function labKnob({ option, example, ...knob }: AlgorithmKnob): Knob {
  const ends = ENDS[knob.form]
  return { ...knob, name: option, first: example, ...(option === 'slices' ? { ...ends, most: 100 } : ends) }
}

/** A draft of a limit: `limitDraft('token-bucket', { capacity: '20', refill: '5/s' })`. */
export function limitDraft(algorithm: LabAlgorithm, given: Readonly<Record<string, string>> = {}): LimitDraft {
  return draftOf(algorithm, limitKnobs(algorithm), given)
}

/** The limit that a draft describes, or the library's own word on what is wrong with it. */
export function limitOf({ kind, values }: LimitDraft): Limit | DraftProblem {
  const options = limitKnobs(kind).map(({ name, form }) => [
    name,
    form === 'count' ? numberOrText(values[name]) : values[name],
  ])
  return readingDraft(() => parseLimit({ algorithm: kind, ...Object.fromEntries(options) }))
}
