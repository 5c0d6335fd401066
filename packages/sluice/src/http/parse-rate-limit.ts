import { invalidType } from '../errors.js'
import { type Item, parseDictionary, parseList } from './parse-list.js'

/** One quota of a server. */
export interface ParsedQuota {
  /** The name of the quota, if the server names it. */
  readonly name?: string
  /** Units in a window. */
  readonly quota?: number
  readonly windowSeconds?: number
  readonly remaining?: number
  /** Milliseconds from now until there are more units. */
  readonly resetAfterMs?: number
}

/** The quotas in the header fields of a response. */
export interface ParsedRateLimit {
  readonly quotas: readonly ParsedQuota[]
  /** How long the server asks to wait, in milliseconds. It overrides quotas. */
  readonly retryAfterMs?: number
}

/** Options of `parseRateLimit`. */
export interface ParseRateLimitOptions {
  /** The time in epoch milliseconds, for fields that contain one. The response's `Date` overrides it. Default: now. */
  readonly nowMs?: number
}

/** Header fields: a `Headers`, Node's object of them, or pairs. */
export type FieldSource =
  | { get(name: string): unknown }
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | number | undefined>>

/** A number of seconds from the first bound on is a time and not a duration; from the second bound on it is in milliseconds. */
const LEAST_EPOCH_SECONDS = 1_000_000_000
const LEAST_EPOCH_MS = 100_000_000_000
const WANTED = 'a Headers, an object of header fields by name, or pairs of name and value'
const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/
/** The three forms of HTTP and that of RFC 3339. The third form is in UTC but does not say so. */
const DATE =
  /^(?:[a-z]{3,9}, \d\d[ -][a-z]{3}[ -]\d{2,4} [\d:]{8} GMT|[a-z]{3} [a-z]{3} [ \d]\d [\d:]{8} (\d{4})|\d{4}(?:-\d\d){2}T[\d:]{8}(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))$/i

/**
 * Reads the quotas of a server from header fields, in every dialect: the IETF draft, its earlier revisions, and
 * `X-RateLimit-*` with seconds from now or with a time. Malformed fields are ignored.
 *
 * @example
 * ```ts
 * import { parseRateLimit } from 'sluice/http'
 *
 * const response = { headers: new Headers({ RateLimit: '"burst";r=0;t=5', 'Retry-After': '5' }) }
 * const { quotas, retryAfterMs } = parseRateLimit(response.headers)
 * ```
 */
export function parseRateLimit(headers: FieldSource, options: ParseRateLimitOptions = {}): ParsedRateLimit {
  const field = reading(headers)
  const nowMs = dateMs(field('date')) ?? options.nowMs ?? Date.now()
  const retryAfterMs = retryAfter(field('retry-after'), nowMs)
  const quotas = draftQuotas(field) ?? dictionaryQuotas(field) ?? singleQuotas(field, nowMs)
  return retryAfterMs === undefined ? { quotas } : { quotas, retryAfterMs }
}

/** The text of a field; `''` if there is no such field. */
type Field = (name: string) => string

/** `RateLimit: "burst";r=50;t=30` and `RateLimit-Policy: "burst";q=100;w=60`, since revision 08. */
function draftQuotas(field: Field): readonly ParsedQuota[] | undefined {
  const quotas = namedItems(field('ratelimit'), 'r')
  const policies = namedItems(field('ratelimit-policy'), 'q')
  if (quotas.size === 0 && policies.size === 0) return undefined
  const labels = new Set([...quotas.keys(), ...policies.keys()])
  return [...labels].map((label) => {
    const [quota, policy] = [quotas.get(label), policies.get(label)]
    return parsed({
      name: (quota ?? policy)?.value as string,
      quota: wholeOf(policy?.parameters.get('q')),
      windowSeconds: windowOf(policy),
      remaining: wholeOf(quota?.parameters.get('r')),
      resetAfterMs: msOf(wholeOf(quota?.parameters.get('t'))),
    })
  })
}

/**
 * The items that have a name and the required parameter. Several limiters may have the same name and append to both fields in the
 * same order, so an item is identified by its name and the number of earlier items with that name.
 */
function namedItems(text: string, required: string): ReadonlyMap<string, Item> {
  const named = new Map<string, Item>()
  const counts = new Map<string, number>()
  for (const item of parseList(text) ?? []) {
    const { value, parameters } = item
    if (typeof value !== 'string') continue
    const before = counts.get(value) ?? 0
    counts.set(value, before + 1)
    if (wholeOf(parameters.get(required)) !== undefined) named.set(`${before} ${value}`, item)
  }
  return named
}

/** `RateLimit: limit=100, remaining=50, reset=5`, in revision 07. */
function dictionaryQuotas(field: Field): readonly ParsedQuota[] | undefined {
  const members = parseDictionary(field('ratelimit'))
  const quota = wholeOf(members?.get('limit')?.value)
  const remaining = wholeOf(members?.get('remaining')?.value)
  if (quota === undefined && remaining === undefined) return undefined
  const resetAfterMs = msOf(wholeOf(members?.get('reset')?.value))
  return [parsed({ quota, windowSeconds: oldWindow(field), remaining, resetAfterMs })]
}

/** One field for each number: the draft until revision 06, and the fields before it. */
function singleQuotas(field: Field, nowMs: number): readonly ParsedQuota[] {
  for (const prefix of ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-']) {
    const quota = wholeOf(leadingNumber(field(`${prefix}limit`)))
    const remaining = wholeOf(leadingNumber(field(`${prefix}remaining`)))
    if (quota === undefined && remaining === undefined) continue
    const resetAfterMs = resetAfter(field(`${prefix}reset`), nowMs)
    return [
      parsed({ quota, windowSeconds: prefix === 'ratelimit-' ? oldWindow(field) : undefined, remaining, resetAfterMs }),
    ]
  }
  return []
}

/** `RateLimit-Policy: 100;w=60`, until revision 07. */
function oldWindow(field: Field): number | undefined {
  const [first] = parseList(field('ratelimit-policy')) ?? []
  return typeof first?.value === 'number' ? windowOf(first) : undefined
}

/** A window of 0 seconds counts as unknown. */
function windowOf(policy: Item | undefined): number | undefined {
  return wholeOf(policy?.parameters.get('w')) || undefined
}

/** Seconds from now, or a date. */
function retryAfter(text: string, nowMs: number): number | undefined {
  return NUMBER.test(text) ? Number(text) * 1_000 : untilMs(dateMs(text), nowMs)
}

/** Seconds from now, a time in epoch seconds or milliseconds, or a date. */
function resetAfter(text: string, nowMs: number): number | undefined {
  if (!NUMBER.test(text)) return untilMs(dateMs(text), nowMs)
  const number = Number(text)
  if (number < LEAST_EPOCH_SECONDS) return number * 1_000
  return untilMs(number < LEAST_EPOCH_MS ? number * 1_000 : number, nowMs)
}

function untilMs(timeMs: number | undefined, nowMs: number): number | undefined {
  return timeMs === undefined ? undefined : Math.max(0, timeMs - nowMs)
}

/** Checks the form first, because `Date.parse` takes `'soon 3'` for a day in March. */
function dateMs(text: string): number | undefined {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const ms = Date.parse(match[1] === undefined ? match[0] : `${match[0]} GMT`)
  return Number.isNaN(ms) ? undefined : ms
}

/** Some revisions write `100, 100;w=60` for 100. */
function leadingNumber(text: string): number | undefined {
  const [, digits] = /^\s*(\d{1,15})\s*(?:[,;].*)?$/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits)
}

function wholeOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

function msOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000
}

/** Leaves out unknown values. */
function parsed(quota: { readonly [Name in keyof ParsedQuota]: ParsedQuota[Name] | undefined }): ParsedQuota {
  return Object.fromEntries(Object.entries(quota).filter(([, value]) => value !== undefined))
}

/** Makes a function that reads a field by its name in lower case. */
function reading(headers: FieldSource): Field {
  if (typeof headers !== 'object' || headers === null) throw invalidType('headers', WANTED, headers)
  if ('headers' in headers && typeof headers.headers === 'object')
    throw invalidType('headers', `${WANTED}: those of the response, parseRateLimit(response.headers)`, headers)
  const iterable = Symbol.iterator in headers
  if (!iterable && 'get' in headers && typeof headers.get === 'function') {
    const { get } = headers
    return (name) => fieldText(get.call(headers, name)) ?? ''
  }
  const fields = new Map<string, string>()
  for (const pair of iterable ? (headers as Iterable<unknown>) : Object.entries(headers)) {
    if (!Array.isArray(pair) || typeof pair[0] !== 'string') throw invalidType('headers', WANTED, headers)
    const [name, text] = [pair[0].toLowerCase(), fieldText(pair[1])]
    const before = fields.get(name)
    if (text !== undefined) fields.set(name, before === undefined ? text : `${before}, ${text}`)
  }
  return (name) => fields.get(name) ?? ''
}

function fieldText(value: unknown): string | undefined {
  if (Array.isArray(value)) return fieldText(value.filter((each) => typeof each === 'string').join(', '))
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined
}
