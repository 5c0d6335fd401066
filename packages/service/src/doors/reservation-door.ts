import {
  claimOnce,
  type Duration,
  InvalidValueError,
  parseDuration,
  StoreUnavailableError,
  type Timed,
  type Verdict,
} from 'sluice'
import { durationUs } from 'sluice/limits'
import type { DecisionService } from '../serve/decision-service.js'
import type { Door } from '../server/door.js'
import type { Exchange, JsonObject } from '../server/exchange.js'
import { badRequest, Problem, shown } from '../server/problem.js'
import type { MisspeltAttributes } from './misspelt-attributes.js'
import { checkMembers, readCheck } from './read-check.js'
import { verdictText } from './verdict-text.js'

const MAX_BYTES = 64 * 1024
/** A client that never settles holds its units for at most this long. */
const LONGEST_TTL = '1d'
/** How long the service remembers the key of a refund. */
const REFUND_KEY_TTL = '1h'
const LONGEST_KEY = 255

/**
 * `POST /v1/reserve` takes an estimated cost until a `ttl` is over, `/v1/settle` sets the actual cost, `/v1/cancel` gives
 * everything back, and `/v1/refund` gives units of other requests back. All but a refund without `Idempotency-Key` may be
 * repeated: the first call takes effect.
 */
export function reservationDoor(service: DecisionService, misspelt: MisspeltAttributes): Door {
  const reading = (handle: (exchange: Exchange, body: JsonObject) => Promise<void>) => (exchange: Exchange) =>
    exchange.readObject(MAX_BYTES, (body) => handle(exchange, body))
  return {
    name: 'reservation',
    routes: {
      'POST /v1/reserve': reading((exchange, body) => reserve(service, misspelt, exchange, body)),
      'POST /v1/settle': reading(async (exchange, body) => {
        checkMembers(body, ['id', 'actual'])
        const settled = await service.policy.settle(readId(body), readActual(body))
        exchange.json(`{"settled":${settled}}`)
      }),
      'POST /v1/cancel': reading(async (exchange, body) => {
        checkMembers(body, ['id'])
        exchange.json(`{"cancelled":${await service.policy.cancel(readId(body))}}`)
      }),
      'POST /v1/refund': reading((exchange, body) => refund(service, exchange, body)),
    },
  }
}

async function reserve(
  service: DecisionService,
  misspelt: MisspeltAttributes,
  exchange: Exchange,
  body: JsonObject,
): Promise<void> {
  const { attributes, cost } = readCheck(body, ['ttl'])
  misspelt.look(attributes, service.policy.attributes)
  const ttl = readTtl(body.ttl)
  const key = idempotencyKey(exchange)
  const { verdict, id, endsAtMs } = await reserveOnce(service, attributes, { cost, ttl, id: key })
  const shownId = verdict.allowed ? JSON.stringify(id) : null
  exchange.json(
    `{"id":${shownId},"endsAtMs":${endsAtMs === undefined ? null : Math.floor(endsAtMs)},${verdictText(verdict).slice(1)}`,
  )
}

/** A key that is open for another request is the client's mistake. */
async function reserveOnce(
  { policy }: DecisionService,
  attributes: object,
  options: { readonly cost: number; readonly ttl: Duration; readonly id: string | undefined },
): Promise<{ readonly verdict: Verdict } & Timed> {
  try {
    return await policy.reserve(attributes, options)
  } catch (error) {
    if (options.id === undefined || !(error instanceof InvalidValueError) || error.option !== 'id') throw error
    throw new Problem(422, 'The Idempotency-Key is in use', `${error.message}, that is another Idempotency-Key`)
  }
}

/** Without a key, a refund that the store did not make is answered with `"refunded":false`. */
async function refund({ policy, claims }: DecisionService, exchange: Exchange, body: JsonObject): Promise<void> {
  const { attributes, cost } = readCheck(body)
  const key = idempotencyKey(exchange)
  const isFirst = key === undefined || (await claimRefund(policy, claims, attributes, key))
  const verdict = await (isFirst ? policy.refund(attributes, { cost }) : policy.peek(attributes))
  const isAnswered = isOfStore(verdict)
  if (key !== undefined && !isAnswered)
    throw new StoreUnavailableError('the store did not answer; a refund with this Idempotency-Key is not tried again')
  exchange.json(`{"refunded":${isFirst && isAnswered},${verdictText(verdict).slice(1)}`)
}

/**
 * True for the first refund with this key. The key is claimed before the refund, because a refund that may have succeeded
 * is not repeated. So a refund that fails after the claim is lost. The look before the claim keeps that rare: a request
 * that is wrong, and a store that is away, do not use up the key.
 */
async function claimRefund(
  policy: DecisionService['policy'],
  claims: DecisionService['claims'],
  attributes: object,
  key: string,
): Promise<boolean> {
  if (!isOfStore(await policy.peek(attributes)))
    throw new StoreUnavailableError('the store did not answer; nothing was given back: send the refund again')
  return claimOnce(claims, `refund/${policy.name}/${key}`, { ttl: REFUND_KEY_TTL })
}

/** Has the store itself answered? Otherwise the rule of `--on-failure` has. */
function isOfStore({ degraded }: Verdict): boolean {
  return degraded === undefined || degraded === 'overrides'
}

function readTtl(ttl: unknown): Duration {
  const wanted = `ttl must be a duration up to ${LONGEST_TTL}, such as "30s"`
  if (ttl === undefined) throw badRequest(`${wanted}, got nothing`)
  const duration = parseDuration(ttl, 'ttl')
  if (durationUs('ttl', duration) > durationUs('ttl', LONGEST_TTL)) throw badRequest(`${wanted}, got ${shown(ttl)}`)
  return duration
}

function readId({ id }: JsonObject): string {
  if (typeof id === 'string' && id !== '' && id.length <= LONGEST_KEY) return id
  throw badRequest(`id must be the id that /v1/reserve answered, got ${shown(id)}`)
}

function readActual({ actual }: JsonObject): number | object {
  if (typeof actual === 'object' && actual !== null && !Array.isArray(actual)) return actual
  if (Number.isSafeInteger(actual) && (actual as number) >= 0) return actual as number
  throw badRequest(`actual must be a whole number from 0, or an object of attributes, got ${shown(actual)}`)
}

/** The header field Idempotency-Key, with or without the quotes of a structured field; `undefined` if it is absent. */
function idempotencyKey({ request }: Exchange): string | undefined {
  const field = request.headers['idempotency-key']
  if (field === undefined) return undefined
  const key = String(field).replace(/^"(.*)"$/, '$1')
  if (key !== '' && key.length <= LONGEST_KEY) return key
  throw badRequest(`Idempotency-Key must have 1 to ${LONGEST_KEY} characters, got ${key.length}`)
}
