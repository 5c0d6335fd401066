import type { JsonObject } from '../server/exchange.js'
import { badRequest, shown } from '../server/problem.js'

/** A question to the policy. */
export interface CheckRequest {
  readonly attributes: object
  readonly cost: number
}

const MEMBERS = ['attributes', 'cost']

/** Reads `{ "attributes": { … }, "cost": 1 }`. `more` are further members that the door reads itself. */
export function readCheck(body: JsonObject, more: readonly string[] = []): CheckRequest {
  for (const name in body) {
    if (!MEMBERS.includes(name) && !more.includes(name))
      throw badRequest(`there is no member '${name.slice(0, 60)}'; a request has ${[...MEMBERS, ...more].join(', ')}`)
  }
  const { attributes = {}, cost = 1 } = body
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes))
    throw badRequest('attributes must be an object, such as {"method":"GET","path":"/v1/charges"}')
  if (!Number.isSafeInteger(cost) || (cost as number) < 0)
    throw badRequest(`cost must be a whole number from 0, got ${shown(cost)}`)
  return { attributes, cost: cost as number }
}
