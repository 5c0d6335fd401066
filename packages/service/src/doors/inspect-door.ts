import type { Explanation } from 'sluice'
import { hideValues, maskedValue } from '../live/hide-values.js'
import type { InspectAnswer, RecentDecision } from '../live/inspect-answer.js'
import type { DecisionService } from '../serve/decision-service.js'
import { unusedAttributes } from '../serve/unused-attributes.js'
import type { Door } from '../server/door.js'
import type { JsonObject } from '../server/exchange.js'
import { badRequest, Problem, shown } from '../server/problem.js'
import type { AdminAccess } from './admin-access.js'
import { type CheckRequest, readCheck } from './read-check.js'

const MAX_BYTES = 64 * 1024

/**
 * `POST /v1/inspect`: how every level applies to a request now. Takes nothing, and needs no token: a reader without one
 * learns what a check at a cost of 0 tells of a key that he names, and sees masks of all keys that he does not name.
 */
export function inspectDoor(service: DecisionService, access: AdminAccess): Door {
  return {
    name: 'inspect',
    routes: {
      'POST /v1/inspect': (exchange) => {
        const isAdmin = access.isAdmin(exchange)
        exchange.readObject(MAX_BYTES, async (body) =>
          exchange.json(JSON.stringify(await inspect(service, body, isAdmin))),
        )
      },
    },
  }
}

async function inspect(service: DecisionService, body: JsonObject, isAdmin: boolean): Promise<InspectAnswer> {
  const { policy, keyMask } = service
  const { attributes, cost, decided } = readQuestion(service, body)
  const isMasked = !isAdmin && body.recent !== undefined
  const explained = await explain(service, attributes, cost, isMasked)
  const levels = isAdmin ? explained : explained.map((each) => hideValues(each, isMasked ? keyMask : undefined))
  return {
    atMs: Date.now(),
    policy: policy.name,
    ...outcomeOf(levels),
    attributes: textsOf(attributes, (name, value) => (isMasked ? maskedValue(name, value, keyMask) : value)),
    cost,
    levels,
    unused: unusedAttributes(attributes, policy.attributes),
    isMasked,
    ...(decided !== undefined && { decided }),
  }
}

/** What is asked about, and what was decided if it is a recent request. */
interface Question extends CheckRequest {
  readonly decided?: RecentDecision
}

/** The request that is asked about: the attributes of the body, or a recent request. */
function readQuestion({ recorder }: DecisionService, body: JsonObject): Question {
  const given = readCheck(body, ['recent'])
  const { recent } = body
  if (recent === undefined) return given
  if (body.attributes !== undefined)
    throw badRequest('either attributes or recent must be there: recent stands for the attributes of a recent request')
  if (typeof recent !== 'string') throw badRequest(`recent must be the id of a recent request, got ${shown(recent)}`)
  const found = recorder.recents.find(recent)
  if (found === undefined)
    throw new Problem(
      404,
      'There is no such request',
      'the request is no longer kept: of a sample, only the last 500 allowed and the last 500 denied ones are',
    )
  const { attributes, cost, atMs, allowed, deniedBy, degraded } = found
  const decided = { atMs, allowed, deniedBy, degraded }
  return { attributes, cost: body.cost === undefined ? cost : given.cost, decided }
}

async function explain(
  { policy }: DecisionService,
  attributes: object,
  cost: number,
  isMasked: boolean,
): Promise<readonly Explanation[]> {
  try {
    return await policy.explain(attributes, { cost })
  } catch (error) {
    // The policy has changed since the request was decided, and its error quotes a value.
    if (isMasked && (error as { code?: string }).code === 'SLUICE_INVALID_VALUE')
      throw badRequest('the policy in force now refuses this request: one of its attributes is no cost')
    throw error
  }
}

/** What a check would say now, as `policy.check` puts the decisions of its levels together. */
function outcomeOf(levels: readonly Explanation[]): Pick<InspectAnswer, 'allowed' | 'deniedBy' | 'retryAfterMs'> {
  const denials = levels
    .filter(({ shadow }) => shadow !== true)
    .flatMap(({ level, limits = [] }) => limits.map(({ decision }) => ({ level, ...decision })))
    .filter(({ allowed }) => !allowed)
  const retryAfterMs = Math.max(0, ...denials.map((each) => each.retryAfterMs))
  const deniedBy = [...new Set(denials.map(({ level }) => level))]
  return { allowed: denials.length === 0, deniedBy, ...(retryAfterMs < Infinity && { retryAfterMs }) }
}

/** The attributes that the request has, as texts. */
function textsOf(attributes: object, show: (name: string, value: string) => string): InspectAnswer['attributes'] {
  const entries = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries.map(([name, value]) => [name, show(name, textOf(value))]))
}

/** The policy reads texts and lists of texts. An attribute that it does not read may be anything, and deeper than a stack. */
function textOf(value: unknown): string {
  if (typeof value !== 'object') return `${value}`
  return Array.isArray(value) && value.every((each) => typeof each !== 'object') ? value.join(', ') : shown(value)
}
