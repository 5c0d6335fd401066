import { cost } from './check-routes.js'
import { type DoorDescription, type JsonSchema, object, ref } from './route-description.js'

const closed = { additionalProperties: false }
const rule: JsonSchema = { enum: ['open', 'closed', 'local'] }
const name: JsonSchema = { type: 'string', minLength: 1, description: 'The name of the limit.' }
const key: JsonSchema = { type: 'string', minLength: 1 }
const place: JsonSchema = { type: 'integer', minimum: 0, description: 'The place of the limit in `limits`, from 0.' }
const places: JsonSchema = {
  type: 'array',
  items: place,
  description: 'All limits that the client uses under the name.',
}

const us = (least: number, description: string): JsonSchema => ({ type: 'integer', minimum: least, description })

const blockRule = object(
  {
    firstUs: us(1, 'How long the first block lasts, in microseconds.'),
    factor: { type: 'number', minimum: 1, maximum: 1_000, description: 'How many times longer each further block is.' },
    mostUs: us(1, 'No block lasts longer.'),
    forgetUs: us(0, 'How long after its end a block is remembered; 0 if blocks do not grow.'),
  },
  { ...closed, description: 'Blocks the key if the demand exceeds: the limit lacks the units.' },
)

const demand = object(
  {
    name,
    limit: place,
    key,
    cost,
    'onFailure?': { ...rule, description: 'How to answer if the store fails.' },
    'shadow?': { type: 'boolean', description: 'Counted like any demand, but its denial does not deny the request.' },
    'blockFor?': blockRule,
  },
  closed,
)

const taken = object(
  { atUs: { type: 'number' }, cost, delayMs: { type: 'number' }, 'degraded?': rule },
  { ...closed, description: 'The units to give back, as the answer of `decide` told them. Default: the newest.' },
)

const remaining: JsonSchema = { type: 'integer', minimum: 0, description: 'The units that are left, up to the quota.' }

const call: JsonSchema = {
  description: 'One call of the store.',
  anyOf: [
    object({ decide: { type: 'array', items: demand } }, closed),
    object({ peek: { type: 'array', items: demand } }, closed),
    object({ charge: demand }, closed),
    object({ refund: demand, 'taken?': taken }, closed),
    object({ set: object({ name, limit: place, key, remaining }, closed) }, closed),
    object({ reset: object({ name, key, 'limits?': places }, closed) }, closed),
    object(
      {
        block: object(
          { name, key, 'limits?': places, durationUs: { type: 'integer', minimum: 1, description: 'Microseconds.' } },
          closed,
        ),
      },
      closed,
    ),
  ],
}

const answer: JsonSchema = {
  description: 'The answer to one call. That of `reset` and `block` has no members.',
  anyOf: [
    object({
      allowed: { type: 'boolean' },
      decisions: { type: 'array', items: ref('Decision') },
      takenUs: { type: 'array', items: { type: 'number' } },
    }),
    object({ decision: ref('Decision') }),
    object({ problem: ref('Problem') }),
    object({}),
  ],
}

/** The routes of the store door. */
export const storeRoutes: DoorDescription = {
  title: 'Store for clients',
  about: 'The store itself, for programs that bring their own limits. `serviceStore` of `sluice/client` speaks it.',
  routes: {
    'POST /v1/store': {
      summary: 'Carry out up to 1,000 calls of a store',
      description:
        'The service carries out the calls in their order, each for itself. It reads all of them first, so a mistake in one ' +
        'changes nothing. Names of clients never reach the states of the policy.',
      body: {
        schema: object(
          {
            'limits?': { type: 'array', maxItems: 10_000, items: ref('Limit') },
            calls: { type: 'array', maxItems: 1_000, items: call },
          },
          closed,
        ),
        example: {
          limits: [{ algorithm: 'token-bucket', capacity: 100, refill: '10/s' }],
          calls: [
            { decide: [{ name: 'search', limit: 0, key: 'user:42', cost: 1 }] },
            { refund: { name: 'search', limit: 0, key: 'user:42', cost: 1 } },
            { set: { name: 'search', limit: 0, key: 'user:42', remaining: 3 } },
            { peek: [{ name: 'search', limit: 0, key: 'user:42', cost: 4 }] },
            { reset: { name: 'search', key: 'user:42', limits: [0] } },
          ],
        },
      },
      answers: {
        200: {
          description: 'One answer for each call, in their order.',
          schema: object({ answers: { type: 'array', items: answer } }),
        },
      },
      problems: [503],
    },
  },
}
