import type { Verdict } from 'sluice'
import { type Dialect, describe } from 'sluice/http'
import type { HeaderValue } from './rate-limit-request.js'

/** How header fields of a response tell the quota; `none` leaves it out. */
export type EnvoyHeaders = Dialect | 'none'

export const ENVOY_HEADERS: readonly EnvoyHeaders[] = ['draft', 'draft-6', 'legacy', 'none']

/** What a client is told: header fields, and the body of a denial. */
export interface ClientAnswer {
  readonly headers: readonly HeaderValue[]
  readonly body: Uint8Array | undefined
}

const NOTHING: ClientAnswer = { headers: [], body: undefined }

/** Tells a client the verdicts of a request's descriptors: the levels of all of them, and which denied. Without any, nothing. */
export function clientAnswer(verdicts: readonly Verdict[], dialect: EnvoyHeaders): ClientAnswer {
  if (verdicts.length === 0) return NOTHING
  const verdict = joined(verdicts)
  if (verdict.allowed && dialect === 'none') return NOTHING
  const { headers, body } = describe(verdict, dialect === 'none' ? [] : dialect)
  const list: HeaderValue[] = []
  for (const key in headers) list.push({ key, value: headers[key] })
  return { headers: list, body: body === undefined ? undefined : Buffer.from(body) }
}

/** The verdicts as if they were of one request. */
function joined(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.length === 1) return verdicts[0]
  return {
    allowed: verdicts.every(({ allowed }) => allowed),
    deniedBy: [...new Set(verdicts.flatMap(({ deniedBy }) => deniedBy))],
    levels: verdicts.flatMap(({ levels }) => levels),
    retryAfterMs: Math.max(0, ...verdicts.map(({ retryAfterMs }) => retryAfterMs)),
    delayMs: 0,
  }
}
