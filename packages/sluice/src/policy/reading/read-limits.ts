import { isObject } from '../../checks/check-options.js'
import { nearest } from '../../checks/nearest.js'
import { InvalidTypeError, InvalidValueError, shown } from '../../errors.js'
import { ALGORITHMS, type Limit, parseLimit } from '../../limits/index.js'
import type { Path, ProblemList } from './problem-list.js'

const MOST_LIMITS = 8
/** The most problems that are reported about one limit. */
const MOST_MISTAKES = 20

/** Valid values that replace wrong options of an algorithm, so that the remaining options can be read. */
const STAND_INS: ReadonlyMap<unknown, Readonly<Record<string, unknown>>> = new Map([
  ['token-bucket', { capacity: 1, refill: '1/s' }],
  ['leaky-bucket', { capacity: 1, drain: '1/s' }],
  ['fixed-window', { quota: 1, window: '1s' }],
  ['sliding-window', { quota: 1, window: '1s' }],
  ['sliding-log', { quota: 1, window: '1s' }],
  ['concurrency', { max: 1 }],
])

/** Reads one limit or a list of them. Returns `undefined` if any of them has a problem. */
export function readLimits(problems: ProblemList, path: Path, value: unknown): readonly Limit[] | undefined {
  if (!Array.isArray(value)) {
    const limit = readLimit(problems, path, value)
    return limit && [limit]
  }
  if (value.length === 0) return problems.add(path, 'limit must be a limit, or a list of at least one')
  if (value.length > MOST_LIMITS) {
    return problems.add(path, `limit must be a list of at most ${MOST_LIMITS}, got ${value.length}`)
  }
  const limits = Array.from(value, (each, i) => readLimit(problems, [...path, i], each))
  return limits.every((limit) => limit !== undefined) ? limits : undefined
}

/** A limit as data, which code and files write the same way. */
const EXAMPLE = `{ algorithm: 'token-bucket', capacity: 20, refill: '5/s' }`

/** `parseLimit` throws at the first mistake. To find them all, replace the wrong option and parse again. */
function readLimit(problems: ProblemList, path: Path, value: unknown): Limit | undefined {
  if (!isObject(value)) return problems.add(path, `limit must be an object such as ${EXAMPLE}, got ${advised(value)}`)
  if (!Object.hasOwn(value, 'algorithm'))
    return problems.add(path, `limit has no algorithm; a limit is an object such as ${EXAMPLE}`)
  let given = value
  for (let mistakes = 0; ; mistakes++) {
    try {
      const limit = parseLimit(given)
      return given === value ? limit : undefined
    } catch (error) {
      if (!(error instanceof InvalidTypeError || error instanceof InvalidValueError)) throw error
      const { option, message } = error
      const fields = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {}
      const { algorithm } = fields
      const standIns = STAND_INS.get(algorithm) ?? {}
      const isOption = option !== undefined && (Object.hasOwn(fields, option) || Object.hasOwn(standIns, option))
      problems.add(isOption ? [...path, option] : path, missing(given, option) ?? asData(message, algorithm))
      const meant = option === 'algorithm' && typeof algorithm === 'string' ? nearest(algorithm, ALGORITHMS) : undefined
      if (meant !== undefined) {
        given = { ...fields, algorithm: meant }
        continue
      }
      if (!isOption || option === 'algorithm' || mistakes === MOST_MISTAKES) return undefined
      const { [option]: wrong, ...rest } = given as Record<string, unknown>
      const standIn = Object.hasOwn(standIns, option) ? standIns[option] : undefined
      // An option without a stand-in is left out. If leaving it out or its stand-in is wrong too, give up.
      if (wrong === undefined ? standIn === undefined : wrong === standIn) return undefined
      given = standIn === undefined ? rest : { ...rest, [option]: standIn }
    }
  }
}

/** A value that is no limit, and the limit that it probably stands for. */
function advised(value: unknown): string {
  const got = shown(value)
  if (value === 0) return `${got}: to deny everything, write { algorithm: 'fixed-window', quota: 0, window: '1m' }`
  if (typeof value === 'number') {
    const quota = Number.isSafeInteger(value) && value > 0 ? value : 100
    return `${got}: a number does not say per what, write { algorithm: 'fixed-window', quota: ${quota}, window: '1m' }`
  }
  const meant = typeof value === 'string' ? nearest(value, ['unlimited', 'none', 'infinity']) : undefined
  return meant === undefined ? got : `${got}: to allow everything, write { algorithm: 'unlimited' }`
}

/** The message of a mistake with the algorithm's name in data, `'fixed-window'`, in place of that of its function. */
function asData(message: string, algorithm: unknown): string {
  return message.replace(/^\w+(?= has no option )/, () => shown(algorithm))
}

function missing(limit: unknown, option: string | undefined): string | undefined {
  if (typeof limit !== 'object' || limit === null) return undefined
  const { algorithm, [option ?? '']: value } = limit as Record<string, unknown>
  if (option === undefined || value !== undefined || !Object.hasOwn(EXAMPLES, option)) return undefined
  return `${shown(algorithm)} needs ${option}, such as ${shown(EXAMPLES[option])}`
}

const EXAMPLES: Readonly<Record<string, unknown>> = {
  capacity: 20,
  refill: '5/s',
  drain: '5/s',
  quota: 100,
  window: '1m',
  max: 20,
}
