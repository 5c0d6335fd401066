import { durationUs, exactRate } from 'sluice/limits'
import { poissonTimes } from '../engine/poisson-times.js'
import { readTimetable } from '../engine/read-timetable.js'
import { readTrace } from '../engine/read-trace.js'
import type { Traffic } from '../engine/simulate.js'
import { type Draft, DraftProblem, draftOf, type Knob, numberOrText, readingDraft } from './draft.js'

/** Shapes of traffic. */
export const TRAFFIC_KINDS = ['steady', 'burst', 'boundary', 'poisson', 'on-off', 'list', 'trace'] as const

export type TrafficKind = (typeof TRAFFIC_KINDS)[number]

export type TrafficDraft = Draft<TrafficKind>

/** A shape as a person reads it. */
export const TRAFFIC_WORDS: Readonly<Record<TrafficKind, string>> = {
  steady: 'Steady',
  burst: 'Bursts',
  boundary: 'Boundary burst',
  poisson: 'Random',
  'on-off': 'On and off',
  list: 'List of times',
  trace: 'Your own trace',
}

/** More requests than this are refused: a chart cannot show them one by one, and a browser should stay quick. */
export const MOST_ARRIVALS = 100_000

const length: Knob = { name: 'length', label: 'Length', form: 'duration', first: '10s', least: 1, most: 1_000 }
const rate: Knob = { name: 'rate', label: 'Arrivals', form: 'rate', first: '20/s', least: 0.01, most: 10_000 }
const size: Knob = {
  name: 'size',
  label: 'Burst',
  form: 'count',
  unit: 'requests',
  first: '100',
  least: 1,
  most: 10_000,
}
const span = { form: 'duration', least: 1, most: 1_000 } as const

const KNOBS: Readonly<Record<TrafficKind, readonly Knob[]>> = {
  steady: [rate, length],
  burst: [size, { name: 'every', label: 'Every', first: '5s', ...span }, length],
  boundary: [
    size,
    { name: 'before', label: 'First burst at', first: '59.9s', ...span },
    { name: 'after', label: 'Second burst at', first: '60.1s', ...span },
    { ...length, first: '2m' },
  ],
  poisson: [rate, { name: 'seed', label: 'Seed', form: 'count', first: '1', least: 1, most: 1_000 }, length],
  'on-off': [
    rate,
    { name: 'on', label: 'On for', first: '1s', ...span },
    { name: 'off', label: 'Off for', first: '2s', ...span },
    length,
  ],
  list: [{ name: 'list', label: 'Requests @ seconds', form: 'text', first: '20@0 1@0.05 1@0.1' }, length],
  trace: [{ name: 'trace', label: 'A line for each request', form: 'text', first: '' }],
}

/** The values of a shape, in the order of its link. */
export function trafficKnobs(kind: TrafficKind): readonly Knob[] {
  return KNOBS[kind]
}

/** A draft of a traffic: `trafficDraft('steady', { rate: '5/s' })`. */
export function trafficDraft(kind: TrafficKind, given: Readonly<Record<string, string>> = {}): TrafficDraft {
  return draftOf(kind, KNOBS[kind], given)
}

/** The requests that a draft describes, or what is wrong with it. */
export function trafficOf({ kind, values }: TrafficDraft): Traffic | DraftProblem {
  return readingDraft(() => {
    if (kind === 'trace') return readTrace(values.trace)
    const lengthUs = durationUs('length', values.length)
    const atUs = ARRIVALS[kind](values, lengthUs)
    return { originUs: 0, atUs: atUs.filter((each) => each <= lengthUs), lengthUs }
  })
}

type Values = TrafficDraft['values']

const ARRIVALS: Readonly<Record<Exclude<TrafficKind, 'trace'>, (values: Values, lengthUs: number) => Float64Array>> = {
  steady: (values, lengthUs) => spaced(perUsOf(values, lengthUs), lengthUs),
  burst: (values, lengthUs) => bursts(values, lengthUs),
  boundary: (values) => {
    const count = sizeOf(values, 2)
    const [before, after] = [durationUs('before', values.before), durationUs('after', values.after)]
    return Float64Array.from({ length: 2 * count }, (_, i) => (i < count ? before : after)).sort()
  },
  poisson: (values, lengthUs) =>
    poissonTimes(perUsOf(values, lengthUs), lengthUs, wholeOf('seed', values.seed, 2 ** 32 - 1)),
  'on-off': (values, lengthUs) => {
    const onUs = durationUs('on', values.on)
    const cycleUs = onUs + durationUs('off', values.off)
    return spaced(perUsOf(values, lengthUs), lengthUs).filter((at) => at % cycleUs < onUs)
  },
  list: (values) => readTimetable(values.list, MOST_ARRIVALS),
}

/** Arrivals at equal distances, the first at 0. */
function spaced(perUs: number, lengthUs: number): Float64Array {
  return Float64Array.from({ length: Math.ceil(lengthUs * perUs) }, (_, i) => Math.floor(i / perUs + 1e-6))
}

function bursts(values: Values, lengthUs: number): Float64Array {
  const everyUs = durationUs('every', values.every)
  const count = sizeOf(values, Math.ceil(lengthUs / everyUs))
  const times = Math.ceil(lengthUs / everyUs) * count
  return Float64Array.from({ length: times }, (_, i) => Math.floor(i / count) * everyUs)
}

function perUsOf(values: Values, lengthUs: number): number {
  const { units, perUs } = exactRate('rate', values.rate)
  const rate = Number(units) / Number(perUs)
  const wanted = Math.round(rate * lengthUs)
  if (wanted <= MOST_ARRIVALS) return rate
  throw tooMany(wanted, 'rate')
}

function sizeOf(values: Values, times: number): number {
  const count = wholeOf('size', values.size, MOST_ARRIVALS)
  if (count * times <= MOST_ARRIVALS) return count
  throw tooMany(count * times, 'size')
}

function wholeOf(name: string, text: string, most: number): number {
  const value = numberOrText(text)
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value
  throw new DraftProblem(
    `The ${name === 'size' ? 'burst' : name} must be a whole number from 0 to ${most.toLocaleString('en')}, not “${text}”.`,
    name,
  )
}

function tooMany(wanted: number, knob: string): DraftProblem {
  const words = `${wanted.toLocaleString('en')} requests; the lab draws at most ${MOST_ARRIVALS.toLocaleString('en')}`
  return new DraftProblem(`These are ${words}. Choose fewer, or a shorter length.`, knob)
}
