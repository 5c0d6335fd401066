import type { BlockRule, Demand, Limit, LimitedKey, OnFailure, Taken } from 'sluice'
import { checkBlockRule, checkRemaining } from 'sluice/limits'
import type { JsonObject } from '../server/exchange.js'
import { badRequest, problemOf, shown } from '../server/problem.js'
import type { ClientLimits } from './client-limits.js'

/** A call of a store that a client asks for. */
export type StoreCall =
  | { readonly method: 'decide' | 'peek'; readonly demands: readonly Demand[] }
  | { readonly method: 'charge'; readonly demand: Demand }
  | { readonly method: 'refund'; readonly demand: Demand; readonly taken: Taken | undefined }
  | { readonly method: 'set'; readonly limited: LimitedKey; readonly remaining: number }
  | ({ readonly method: 'reset' } & NamedKey)
  | ({ readonly method: 'block'; readonly durationUs: number } & NamedKey)

/** A key under a name, and the limits that the client uses under that name. */
interface NamedKey {
  readonly name: string
  readonly key: string
  readonly limits: readonly Limit[]
}

const MOST_CALLS = 1_000
const MOST_DEMANDS = 10_000
/** The longest duration of the library, 100 years, in microseconds. */
const LONGEST_BLOCK_US = 36_500 * 86_400_000_000
const RULES: readonly unknown[] = ['open', 'closed', 'local']

/**
 * Reads `{ "limits": [limit …], "calls": [{ "decide": [demand …] } …] }`. A demand names its limit by its place in the list:
 * `{ "name": "search", "limit": 0, "key": "user:42", "cost": 1 }`. The problem of a wrong request says where it is wrong.
 */
export function readStoreCalls(body: JsonObject, known: ClientLimits): readonly StoreCall[] {
  checkMembers(body, ['limits', 'calls'], 'a request')
  const { limits = [], calls } = body
  if (!Array.isArray(limits) || limits.length > MOST_DEMANDS)
    throw badRequest(`limits must be a list of at most ${MOST_DEMANDS} limits, got ${shown(limits)}`)
  if (!Array.isArray(calls) || calls.length > MOST_CALLS)
    throw badRequest(`calls must be a list of at most ${MOST_CALLS} calls, got ${shown(calls)}`)
  const reader = new CallReader(
    limits.map((each, i) => at('limits', i, () => known.limit(each))),
    known,
  )
  return calls.map((each, i) => at('calls', i, () => reader.read(each)))
}

/** Runs a part of the reading, and says in front of its problem where it is. */
function at<T>(list: string, i: number, read: () => T): T {
  try {
    return read()
  } catch (error) {
    const problem = problemOf(error)
    throw problem.status === 400 ? badRequest(`${list}[${i}]: ${problem.message}`) : error
  }
}

const DEMAND = ['name', 'limit', 'key', 'cost', 'onFailure', 'shadow', 'blockFor']
const TAKEN = ['atUs', 'cost', 'delayMs', 'degraded']

/** Reads the calls of one request. */
class CallReader {
  readonly #limits: readonly Limit[]
  readonly #known: ClientLimits
  #demands = 0

  constructor(limits: readonly Limit[], known: ClientLimits) {
    this.#limits = limits
    this.#known = known
  }

  read(value: unknown): StoreCall {
    const call = object(value, 'a call', '{"decide":[…]}')
    if ('decide' in call) return { method: 'decide', demands: this.#demandsOf('decide', call) }
    if ('peek' in call) return { method: 'peek', demands: this.#demandsOf('peek', call) }
    if ('charge' in call) {
      checkMembers(call, ['charge'], 'a charge')
      return { method: 'charge', demand: this.#demand(call.charge) }
    }
    if ('refund' in call) {
      checkMembers(call, ['refund', 'taken'], 'a refund')
      return { method: 'refund', demand: this.#demand(call.refund), taken: readTaken(call.taken) }
    }
    if ('set' in call) {
      checkMembers(call, ['set'], 'a set')
      return this.#set(call.set)
    }
    if ('reset' in call) {
      checkMembers(call, ['reset'], 'a reset')
      return { method: 'reset', ...this.#namedKey(call.reset, ['name', 'key', 'limits']) }
    }
    if ('block' in call) {
      checkMembers(call, ['block'], 'a block')
      const named = this.#namedKey(call.block, ['name', 'key', 'limits', 'durationUs'])
      const durationUs = whole('durationUs', (call.block as JsonObject).durationUs, 1, LONGEST_BLOCK_US)
      return { method: 'block', ...named, durationUs }
    }
    throw badRequest(`a call must be a decide, peek, charge, refund, set, reset or block, got ${shown(value)}`)
  }

  #demandsOf(method: 'decide' | 'peek', call: JsonObject): readonly Demand[] {
    checkMembers(call, [method], `a ${method}`)
    const { [method]: demands } = call
    if (!Array.isArray(demands)) throw badRequest(`${method} must be a list of demands, got ${shown(demands)}`)
    return demands.map((each) => this.#demand(each))
  }

  #demand(value: unknown): Demand {
    this.#count(1)
    const demand = object(value, 'a demand', '{"name":"search","limit":0,"key":"user:42","cost":1}')
    checkMembers(demand, DEMAND, 'a demand')
    const { onFailure, shadow, blockFor } = demand
    if (onFailure !== undefined && !RULES.includes(onFailure))
      throw badRequest(`onFailure must be open, closed or local, got ${shown(onFailure)}`)
    if (shadow !== undefined && typeof shadow !== 'boolean')
      throw badRequest(`shadow must be true or false, got ${shown(shadow)}`)
    return {
      name: this.#known.name(text('name', demand.name)),
      limit: this.#limit(demand.limit),
      key: text('key', demand.key),
      cost: whole('cost', demand.cost, 0, Number.MAX_SAFE_INTEGER),
      onFailure: onFailure as OnFailure | undefined,
      shadow,
      blockFor: readRule(blockFor),
    }
  }

  #set(value: unknown): StoreCall {
    this.#count(1)
    const given = object(value, 'set', '{"name":"search","limit":0,"key":"user:42","remaining":0}')
    checkMembers(given, ['name', 'limit', 'key', 'remaining'], 'set')
    const limit = this.#limit(given.limit)
    const limited = { name: this.#known.name(text('name', given.name)), limit, key: text('key', given.key) }
    return { method: 'set', limited, remaining: checkRemaining(limit, given.remaining) }
  }

  #namedKey(value: unknown, members: readonly string[]): NamedKey {
    const named = object(value, 'its value', '{"name":"search","key":"user:42"}')
    checkMembers(named, members, 'its value')
    const { limits = [] } = named
    if (!Array.isArray(limits)) throw badRequest(`limits must be a list of places, got ${shown(limits)}`)
    this.#count(limits.length)
    return {
      name: this.#known.name(text('name', named.name)),
      key: text('key', named.key),
      limits: limits.map((place) => this.#limit(place)),
    }
  }

  #count(demands: number): void {
    this.#demands += demands
    if (this.#demands > MOST_DEMANDS) throw badRequest(`a request must have at most ${MOST_DEMANDS} demands`)
  }

  #limit(place: unknown): Limit {
    const limit = typeof place === 'number' ? this.#limits[place] : undefined
    if (limit !== undefined) return limit
    throw badRequest(`limit must be a place in limits, from 0 to ${this.#limits.length - 1}, got ${shown(place)}`)
  }
}

const RULE = ['firstUs', 'factor', 'mostUs', 'forgetUs'] satisfies (keyof BlockRule)[]

function readRule(value: unknown): BlockRule | undefined {
  if (value === undefined) return undefined
  const rule = object(value, 'blockFor', '{"firstUs":900000000,"factor":1,"mostUs":900000000,"forgetUs":0}')
  checkMembers(rule, RULE, 'blockFor')
  return checkBlockRule(rule)
}

function readTaken(value: unknown): Taken | undefined {
  if (value === undefined) return undefined
  const taken = object(value, 'taken', '{"atUs":1745000100000000,"cost":1,"delayMs":0}')
  checkMembers(taken, TAKEN, 'taken')
  const { atUs, cost, delayMs, degraded } = taken
  if (degraded !== undefined && !RULES.includes(degraded))
    throw badRequest(`taken.degraded must be open, closed or local, got ${shown(degraded)}`)
  return {
    atUs: amount('taken.atUs', atUs),
    cost: whole('taken.cost', cost, 0, Number.MAX_SAFE_INTEGER),
    delayMs: amount('taken.delayMs', delayMs),
    degraded: degraded as OnFailure | undefined,
  }
}

function checkMembers(value: JsonObject, known: readonly string[], what: string): void {
  for (const name in value) {
    if (!known.includes(name)) throw badRequest(`there is no member ${shown(name)}; ${what} has ${known.join(', ')}`)
  }
}

function object(value: unknown, what: string, example: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw badRequest(`${what} must be an object such as ${example}, got ${shown(value)}`)
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw badRequest(`${name} must be a text that is not empty, got ${shown(value)}`)
}

function whole(name: string, value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number
  throw badRequest(`${name} must be a whole number from ${least} to ${most}, got ${shown(value)}`)
}

/** Times are bounded, too: a limit that counts slices of time would count from 1e308 for ever. */
function amount(name: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value
  throw badRequest(`${name} must be a number from 0 to ${Number.MAX_SAFE_INTEGER}, got ${shown(value)}`)
}
