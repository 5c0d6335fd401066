import type { JsonObject } from '../server/exchange.js'
import { badRequest, type Problem, shown } from '../server/problem.js'

/** A question to the policy. */
export interface CheckRequest {
  readonly attributes: object
  readonly cost: number
}

const MEMBERS = ['attributes', 'cost']
const NONE: readonly string[] = []

/** Reads `{ "attributes": { … }, "cost": 1 }`. `more` are further members that the door reads itself. */
export function readCheck(body: unknown, more: readonly string[] = NONE): CheckRequest {
  if (!isObject(body)) throw badRequest(`a check must be an object like the body of /v1/check, got ${shown(body)}`)
  for (const name in body)
    if (name !== 'attributes' && name !== 'cost' && !more.includes(name))
      throw unknownMember(name, [...MEMBERS, ...more])
  const { attributes = {}, cost = 1 } = body
  if (!isObject(attributes))
    throw badRequest(
      `attributes must be an object, such as {"method":"GET","path":"/v1/charges"}, got ${shown(attributes)}`,
    )
  if (!Number.isSafeInteger(cost) || (cost as number) < 0)
    throw badRequest(`cost must be a whole number from 0, got ${shown(cost)}`)
  return { attributes, cost: cost as number }
}

/** Throws if a body has a member that is not among the known ones: it may be misspelt. */
export function checkMembers(body: JsonObject, known: readonly string[]): void {
  for (const name in body) if (!known.includes(name)) throw unknownMember(name, known)
}

function unknownMember(name: string, known: readonly string[]): Problem {
  return badRequest(`there is no member '${name.slice(0, 60)}'; the object has ${known.join(', ')}`)
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
