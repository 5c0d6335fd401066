import { invalidType } from '../errors.js'
import { type Item, parseDictionary, parseList } from './parse-list.js'

/** One quota, as a server tells of it. */
export interface ParsedQuota {
  /** The policy's name, if the server names it. */
  readonly name?: string
  /** How many units there are in a window. */
  readonly quota?: number
  readonly windowSeconds?: number
  readonly remaining?: number
  /** When there will be more, in milliseconds from now. */
  readonly resetAfterMs?: number
}

/** What the header fields of a response tell. */
export interface ParsedRateLimit {
  readonly quotas: readonly ParsedQuota[]
  /** How long the server asks to wait. It counts more than any quota. */
  readonly retryAfterMs?: number
}

/** What the reader may be told. */
export interface ParseRateLimitOptions {
  /** The time, for fields that tell one. Default: the process's. The response's `Date` counts more. */
  readonly nowMs?: number
}

/** Header fields: a `Headers`, Node's object of them, or pairs. */
export type FieldSource =
  | { get(name: string): unknown }
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | number | undefined>>

/** Larger numbers of seconds than this are no duration but a time, and of milliseconds beyond the next. */
const LEAST_EPOCH_SECONDS = 1_000_000_000
const LEAST_EPOCH_MS = 100_000_000_000
const WANTED = 'a Headers, an object of header fields by name, or pairs of name and value'
const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/
/** The three forms that HTTP knows, of which the last does not say that it is UTC, and that of RFC 3339. */
const DATE =
  /^(?:[a-z]{3,9}, \d\d[ -][a-z]{3}[ -]\d{2,4} [\d:]{8} GMT|[a-z]{3} [a-z]{3} [ \d]\d [\d:]{8} (\d{4})|\d{4}(?:-\d\d){2}T[\d:]{8}(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))$/i

/**
 * Reads what a server tells of its quotas, in whichever dialect: the IETF's draft of today, its earlier revisions, and
 * `X-RateLimit-*` with seconds from now or with a time. What makes no sense is left out.
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

type Field = (name: string) => string | undefined

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
 * Those items that have a name, and what they must tell. Several limiters may have one name, and add to the fields in the
 * same order: an item is known by its name and how many had it before.
 */
function namedItems(text: string | undefined, required: string): ReadonlyMap<string, Item> {
  const named = new Map<string, Item>()
  const counts = new Map<string, number>()
  for (const item of (text === undefined ? undefined : parseList(text)) ?? []) {
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
  const text = field('ratelimit')
  const members = text === undefined ? undefined : parseDictionary(text)
  const quota = wholeOf(members?.get('limit')?.value)
  const remaining = wholeOf(members?.get('remaining')?.value)
  if (quota === undefined && remaining === undefined) return undefined
  const resetAfterMs = msOf(wholeOf(members?.get('reset')?.value))
  return [parsed({ quota, windowSeconds: oldWindow(field), remaining, resetAfterMs })]
}

/** One field a number: the draft until revision 06, and what was there before it. */
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
  const [first] = parseList(field('ratelimit-policy') ?? '') ?? []
  return typeof first?.value === 'number' ? windowOf(first) : undefined
}

/** No window has a length of 0. */
function windowOf(policy: Item | undefined): number | undefined {
  return wholeOf(policy?.parameters.get('w')) || undefined
}

/** Seconds from now, however many, or a date. */
function retryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text !== undefined && NUMBER.test(text)) return Number(text) * 1_000
  return untilMs(dateMs(text), nowMs)
}

/** Seconds from now, a time in epoch seconds or milliseconds, or a date. */
function resetAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined || !NUMBER.test(text)) return untilMs(dateMs(text), nowMs)
  const number = Number(text)
  if (number < LEAST_EPOCH_SECONDS) return number * 1_000
  return untilMs(number < LEAST_EPOCH_MS ? number * 1_000 : number, nowMs)
}

function untilMs(timeMs: number | undefined, nowMs: number): number | undefined {
  return timeMs === undefined ? undefined : Math.max(0, timeMs - nowMs)
}

/** `Date.parse` itself takes `'soon 3'` for a day in March. */
function dateMs(text: string | undefined): number | undefined {
  const match = text === undefined ? null : DATE.exec(text)
  if (match === null) return undefined
  const ms = Date.parse(match[1] === undefined ? match[0] : `${match[0]} GMT`)
  return Number.isNaN(ms) ? undefined : ms
}

/** `100, 100;w=60`, as some revisions had it, is 100. */
function leadingNumber(text: string | undefined): number | undefined {
  const [, digits] = /^\s*(\d{1,15})\s*(?:[,;].*)?$/.exec(text ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

function wholeOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

function msOf(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000
}

/** Without what is not known. */
function parsed(quota: { readonly [Name in keyof ParsedQuota]: ParsedQuota[Name] | undefined }): ParsedQuota {
  return Object.fromEntries(Object.entries(quota).filter(([, value]) => value !== undefined))
}

/** Reads fields by name, in lower case. */
function reading(headers: FieldSource): Field {
  if (typeof headers !== 'object' || headers === null) throw invalidType('headers', WANTED, headers)
  if ('headers' in headers && typeof headers.headers === 'object')
    throw invalidType('headers', `${WANTED}: those of the response, parseRateLimit(response.headers)`, headers)
  const iterable = Symbol.iterator in headers
  if (!iterable && 'get' in headers && typeof headers.get === 'function') {
    const { get } = headers
    return (name) => fieldText(get.call(headers, name))
  }
  const fields = new Map<string, string>()
  for (const pair of iterable ? (headers as Iterable<unknown>) : Object.entries(headers)) {
    if (!Array.isArray(pair) || typeof pair[0] !== 'string') throw invalidType('headers', WANTED, headers)
    const [name, text] = [pair[0].toLowerCase(), fieldText(pair[1])]
    const before = fields.get(name)
    if (text !== undefined) fields.set(name, before === undefined ? text : `${before}, ${text}`)
  }
  return (name) => fields.get(name)
}

function fieldText(value: unknown): string | undefined {
  if (Array.isArray(value)) return fieldText(value.filter((each) => typeof each === 'string').join(', '))
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined
}
