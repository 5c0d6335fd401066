import type { Limit, OverrideKey } from 'sluice'
import type { DecisionService } from '../serve/decision-service.js'
import type { Door, Handler } from '../server/door.js'
import type { Exchange, JsonObject } from '../server/exchange.js'
import { badRequest, shown } from '../server/problem.js'
import { checkMembers } from './read-check.js'
import { readQuery, readWhole } from './read-query.js'

/** Hears of each change that an operator makes: its name, and the levels that it concerns. Never hears a key. */
export type OnAdminChange = (change: string, levels: readonly string[]) => void

/** Answers a body. What it returns is sent as JSON. */
export type AdminAction = (body: JsonObject) => object | Promise<object>

/** Parts of the admin door. */
export interface AdminRouteParts {
  withToken(handler: Handler): Handler
  action(run: AdminAction): Handler
  readonly onChange: OnAdminChange
}

/** `/v1/admin/overrides`: lists, sets and removes run-time overrides. */
export function overrideRoutes(service: DecisionService, parts: AdminRouteParts): Door['routes'] {
  const { withToken, action, onChange } = parts
  return {
    'GET /v1/admin/overrides': withToken((exchange) => list(service, exchange)),
    'POST /v1/admin/overrides': action((body) => set(service, body, onChange)),
    'POST /v1/admin/overrides/remove': action((body) => remove(service, body, onChange)),
  }
}

async function list(service: DecisionService, exchange: Exchange): Promise<void> {
  const { level, limit } = readQuery(exchange.query, ['level', 'limit'])
  const most = readWhole('limit', limit, { least: 1, most: 10_000, otherwise: 1_000 })
  const { policy } = service
  const all = await policy.overrides()
  const chosen = level === undefined ? all : all.filter((override) => override.level === level)
  exchange.json(JSON.stringify({ total: chosen.length, overrides: chosen.slice(0, most) }))
}

async function set(service: DecisionService, body: JsonObject, onChange: OnAdminChange): Promise<object> {
  checkMembers(body, ['level', 'key', 'limit', 'until'])
  const { level, key, limit, until } = body
  checkLevel(level)
  const untilMs = readUntil(until)
  const { policy } = service
  // The policy checks each of these, and says what would be right.
  await policy.override(level, key as OverrideKey, limit as Limit, untilMs === undefined ? {} : { until: untilMs })
  onChange('override', [level])
  const limits = Array.isArray(limit) ? limit : [limit]
  return { override: { level, key: shownKey(key as OverrideKey), limits, ...(untilMs !== undefined && { untilMs }) } }
}

async function remove(service: DecisionService, body: JsonObject, onChange: OnAdminChange): Promise<object> {
  checkMembers(body, ['level', 'key'])
  const { level, key } = body
  checkLevel(level)
  await service.policy.removeOverride(level, key as OverrideKey)
  onChange('remove override', [level])
  return { removed: true }
}

function checkLevel(level: unknown): asserts level is string {
  if (typeof level !== 'string')
    throw badRequest(`level must be the name of a level of the policy, got ${shown(level)}`)
}

/** The end of an override in epoch milliseconds. A date needs its time zone: the service may run in another one. */
function readUntil(until: unknown): number | undefined {
  if (until === undefined || typeof until === 'number') return until
  const ms = typeof until === 'string' && /(?:Z|[+-]\d\d:\d\d)$/.test(until) ? Date.parse(until) : Number.NaN
  if (!Number.isNaN(ms)) return ms
  throw badRequest(`until must be a time such as "2027-01-31T12:00:00Z", or epoch milliseconds, got ${shown(until)}`)
}

function shownKey(key: OverrideKey): string | readonly string[] {
  return typeof key === 'object' ? key.map(String) : String(key)
}
