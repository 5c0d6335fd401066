import { type Item, parseDictionary, parseList } from './structured-list.js'

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
  | { get(name: string): string | null | undefined }
  | Iterable<readonly [string, string]>
  | Readonly<Record<string, string | readonly string[] | number | undefined>>

/** Larger numbers of seconds than this are no duration but a time, and of milliseconds beyond the next. */
const LEAST_EPOCH_SECONDS = 1_000_000_000
const LEAST_EPOCH_MS = 100_000_000_000

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
  const serverMs = Date.parse(field('date') ?? '')
  const nowMs = Number.isNaN(serverMs) ? (options.nowMs ?? Date.now()) : serverMs
  const retryAfterMs = waitOf(field('retry-after'), nowMs)
  const quotas = draftQuotas(field) ?? dictionaryQuotas(field) ?? singleQuotas(field, nowMs)
  return retryAfterMs === undefined ? { quotas } : { quotas, retryAfterMs }
}

type Field = (name: string) => string | undefined

/** `RateLimit: "burst";r=50;t=30` and `RateLimit-Policy: "burst";q=100;w=60`, since revision 08. */
function draftQuotas(field: Field): readonly ParsedQuota[] | undefined {
  const quotas = namedItems(field('ratelimit'), 'r')
  const policies = namedItems(field('ratelimit-policy'), 'q')
  if (quotas.size === 0 && policies.size === 0) return undefined
  const names = new Set([...quotas.keys(), ...policies.keys()])
  return [...names].map((name) => {
    const [quota, policy] = [quotas.get(name), policies.get(name)]
    return parsed({
      name,
      quota: wholeOf(policy?.get('q')),
      windowSeconds: wholeOf(policy?.get('w')),
      remaining: wholeOf(quota?.get('r')),
      resetAfterMs: msOf(wholeOf(quota?.get('t'))),
    })
  })
}

/** By name, the parameters of those items that have one, and what they must tell. */
function namedItems(text: string | undefined, required: string): ReadonlyMap<string, Item['parameters']> {
  const items = text === undefined ? undefined : parseList(text)
  return new Map(
    (items ?? []).flatMap(({ value, parameters }) =>
      typeof value === 'string' && wholeOf(parameters.get(required)) !== undefined ? [[value, parameters]] : [],
    ),
  )
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
    const resetAfterMs = waitOf(field(`${prefix}reset`), nowMs)
    return [
      parsed({ quota, windowSeconds: prefix === 'ratelimit-' ? oldWindow(field) : undefined, remaining, resetAfterMs }),
    ]
  }
  return []
}

/** `RateLimit-Policy: 100;w=60`, until revision 07. */
function oldWindow(field: Field): number | undefined {
  const [first] = parseList(field('ratelimit-policy') ?? '') ?? []
  return typeof first?.value === 'number' ? wholeOf(first.parameters.get('w')) : undefined
}

/** How long until what a field tells: seconds from now, a time in epoch seconds or milliseconds, or a date. */
function waitOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d{1,17}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined
  if (number === undefined) {
    const dateMs = /[a-z]/i.test(text) && text.length < 64 ? Date.parse(text) : Number.NaN
    return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs)
  }
  if (number < LEAST_EPOCH_SECONDS) return number * 1_000
  return Math.max(0, (number < LEAST_EPOCH_MS ? number * 1_000 : number) - nowMs)
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
  if ('get' in headers && typeof headers.get === 'function') {
    const { get } = headers
    return (name) => (get.call(headers, name) as string | null) ?? undefined
  }
  const pairs: Iterable<readonly [string, unknown]> =
    Symbol.iterator in headers ? (headers as Iterable<readonly [string, string]>) : Object.entries(headers)
  const fields = new Map<string, string>()
  for (const [name, value] of pairs) {
    if (value === undefined || value === null) continue
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    const before = fields.get(name.toLowerCase())
    fields.set(name.toLowerCase(), before === undefined ? text : `${before}, ${text}`)
  }
  return (name) => fields.get(name)
}
