import { type Duration, type Limit, nearestName, parseDuration, parseLimit } from 'sluice'
import type { MapNode } from '../policy-file/source-node.js'
import { calendarLimit } from './calendar.js'
import { FieldReader } from './field-reader.js'
import type { CalendarUnit, RateLimitBlock, RuleLimit } from './rule.js'

/** The lengths of the units. Windows of the first four begin on whole ones by UTC, as the library aligns them. */
const LENGTHS: Readonly<Record<string, Duration>> = { second: '1s', minute: '1m', hour: '1h', day: '1d' }

const CALENDAR: readonly string[] = ['week', 'month', 'year'] satisfies CalendarUnit[]

const ALGORITHMS = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket']
const MOST_LIMITS = 8

/** Reads `rate_limit`: one limit, or a list of limits that must all allow. */
export function readRateLimit(descriptor: FieldReader): RateLimitBlock | undefined {
  const node = descriptor.node('rate_limit')
  if (node === undefined) return undefined
  const maps = node.kind === 'map' ? [node] : descriptor.maps('rate_limit')
  if (node.kind === 'list' && (node.items.length === 0 || node.items.length > MOST_LIMITS))
    descriptor.fault(
      `rate_limit must be one limit, or a list of 1 to ${MOST_LIMITS}, got ${node.items.length}`,
      'rate_limit',
    )
  const readers = maps.map((map) => new FieldReader(map as MapNode, descriptor.finder, descriptor.findings))
  const [first] = readers
  if (first === undefined) return undefined
  for (const reader of readers.slice(1)) {
    for (const name of ['name', 'replaces', 'unlimited'])
      if (reader.has(name))
        reader.fault(`${name} belongs to the first limit of a list, and counts for the whole rule`, name)
  }
  const name = first.text('name')
  const limits = readers.map((reader) => readLimit(reader)).filter((limit) => limit !== undefined)
  return { limits, name, replaces: readReplaces(first, name) }
}

function readReplaces(fields: FieldReader, ownName: string): readonly string[] {
  return fields.maps('replaces').map((map) => {
    const entry = new FieldReader(map, fields.finder, fields.findings)
    const name = entry.text('name')
    if (name === '') entry.fault('should not have an empty replaces entry')
    else if (name === ownName) entry.fault('replaces should not contain name of same descriptor')
    return name
  })
}

function readLimit(fields: FieldReader): RuleLimit | undefined {
  const written = fields.text('unit')
  const unit = written.toLowerCase()
  const isUnit = Object.hasOwn(LENGTHS, unit) || CALENDAR.includes(unit)
  if (fields.flag('unlimited')) {
    if (isUnit) fields.fault('should not specify rate limit unit when unlimited', 'unit')
    for (const name of ['algorithm', 'window', 'burst', 'slices'])
      if (fields.has(name)) fields.fault(`should not specify ${name} when unlimited`, name)
    return { limit: { algorithm: 'unlimited' } }
  }
  const hasWindow = fields.has('window')
  if (hasWindow && fields.has('unit')) {
    fields.fault("a limit has a unit or a window: write 'window: 30s' without a unit", 'window')
    return undefined
  }
  if (!hasWindow && !isUnit) {
    const message = `invalid rate limit unit '${written.slice(0, 60)}'${unitAdvice(unit)}`
    fields.fault(message, fields.has('unit') ? 'unit' : undefined)
    return undefined
  }
  const requests = fields.whole('requests_per_unit')
  if (!fields.has('requests_per_unit'))
    fields.warn('requests_per_unit is missing, which means 0: every request is denied')
  const algorithm = readAlgorithm(fields)
  if (algorithm === undefined) return undefined
  const calendar = algorithm === 'fixed-window' && CALENDAR.includes(unit) ? (unit as CalendarUnit) : undefined
  if (calendar !== undefined) return { limit: calendarLimit(requests ?? 0, calendar), calendar }
  const window = hasWindow ? fields.text('window') : lengthOf(unit)
  if (window === undefined) {
    fields.fault(
      `a ${unit} has no fixed length for a ${algorithm}: write 'window: ${unit === 'year' ? '365d' : '30d'}'`,
      'unit',
    )
    return undefined
  }
  return tried(fields, hasWindow, () => ({ limit: limitOf(fields, algorithm, requests ?? 0, window) }))
}

/** What would be right, behind the words of envoyproxy/ratelimit. */
function unitAdvice(unit: string): string {
  if (isDuration(unit)) return `; write 'window: ${unit}' in place of it`
  const units = [...Object.keys(LENGTHS), ...CALENDAR]
  const meant = nearestName(unit, units)
  if (meant !== undefined) return `; did you mean '${meant}'?`
  return `: it must be ${units.slice(0, -1).join(', ')} or ${units.at(-1)}`
}

function isDuration(text: string): boolean {
  try {
    parseDuration(text, 'unit')
    return true
  } catch {
    return false
  }
}

function lengthOf(unit: string): string | undefined {
  return unit === 'week' ? '7d' : LENGTHS[unit]
}

function readAlgorithm(fields: FieldReader): string | undefined {
  if (!fields.has('algorithm')) return 'fixed-window'
  const algorithm = fields.text('algorithm')
  if (ALGORITHMS.includes(algorithm)) return algorithm
  const reason =
    algorithm === 'leaky-bucket'
      ? ': a leaky bucket makes requests wait, which Envoy cannot do; take a token-bucket with the same burst'
      : algorithm === 'concurrency'
        ? ': Envoy does not say when a request is over'
        : ''
  fields.fault(
    `algorithm must be one of ${ALGORITHMS.join(', ')}, got '${algorithm.slice(0, 60)}'${reason}`,
    'algorithm',
  )
  return undefined
}

function limitOf(fields: FieldReader, algorithm: string, requests: number, written: string): Limit {
  const window = parseDuration(written, 'window')
  const burst = fields.whole('burst')
  const slices = fields.whole('slices')
  if (fields.has('burst') && algorithm !== 'token-bucket') fields.fault('burst belongs to a token-bucket', 'burst')
  if (fields.has('slices') && algorithm !== 'sliding-window')
    fields.fault('slices belong to a sliding-window', 'slices')
  // A bucket cannot refill at a rate of 0.
  if (algorithm !== 'token-bucket' || requests === 0)
    return parseLimit({
      algorithm: requests === 0 ? 'fixed-window' : algorithm,
      quota: requests,
      window,
      ...(algorithm === 'sliding-window' && requests > 0 && slices !== undefined && { slices }),
    })
  return parseLimit({ algorithm, capacity: burst ?? requests, refill: `${requests}/${window}` })
}

/** The library's own message says what is wrong with a number or a window. */
function tried(fields: FieldReader, hasWindow: boolean, read: () => RuleLimit): RuleLimit | undefined {
  try {
    return read()
  } catch (error) {
    fields.fault((error as Error).message, hasWindow ? 'window' : undefined)
    return undefined
  }
}
