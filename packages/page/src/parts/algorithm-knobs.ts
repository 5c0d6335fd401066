import type { Algorithm } from 'sluice/limits'

/** One option of an algorithm, as a field shows it. */
export interface AlgorithmKnob {
  /** As the library calls it, so that its errors name it. */
  readonly option: string
  readonly label: string
  /** How it is typed: a whole number, a rate such as `5/s`, or a duration such as `1m`. */
  readonly form: 'count' | 'rate' | 'duration'
  /** What is counted: `tokens`. */
  readonly unit?: string
  readonly example: string
}

const CAPACITY = { option: 'capacity', label: 'Capacity', form: 'count', example: '100' } as const
const QUOTA: AlgorithmKnob = { option: 'quota', label: 'Quota', form: 'count', unit: 'requests', example: '100' }
const WINDOW: AlgorithmKnob = { option: 'window', label: 'Window', form: 'duration', example: '1m' }

const KNOBS: Readonly<Record<Algorithm, readonly AlgorithmKnob[]>> = {
  'token-bucket': [
    { ...CAPACITY, unit: 'tokens' },
    { option: 'refill', label: 'Refill', form: 'rate', example: '10/s' },
  ],
  'leaky-bucket': [
    { ...CAPACITY, unit: 'places' },
    { option: 'drain', label: 'Drain', form: 'rate', example: '10/s' },
  ],
  'fixed-window': [QUOTA, WINDOW],
  'sliding-window': [QUOTA, WINDOW, { option: 'slices', label: 'Slices', form: 'count', example: '1' }],
  'sliding-log': [QUOTA, WINDOW],
  concurrency: [
    { option: 'max', label: 'At the same time', form: 'count', example: '10' },
    { option: 'ttl', label: 'Each for at most', form: 'duration', example: '30s' },
  ],
  unlimited: [],
}

/** All algorithms. */
export const ALGORITHMS = Object.keys(KNOBS) as readonly Algorithm[]

/** The options that an algorithm asks for. How windows are aligned is left out: few policies say it. */
export function algorithmKnobs(algorithm: Algorithm): readonly AlgorithmKnob[] {
  return KNOBS[algorithm]
}
