import { cost } from './check-routes.js'
import { type DoorDescription, type JsonSchema, object, ref } from './route-description.js'

const attributes = { method: 'POST', path: '/v1/charges', ip: '192.0.2.7', merchant: 'acct_1' }

const ttl: JsonSchema = {
  type: ['string', 'integer'],
  description: 'After this long the units come back: `"30s"`, `"2m"`, or a number of milliseconds. At most one day.',
}

const id: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'The id that `/v1/reserve` answered.',
}

const verdict = object({
  allowed: { type: 'boolean', description: 'May the request go?' },
  retryAfterMs: { type: ['number', 'null'], minimum: 0, description: 'See `/v1/check`.' },
  delayMs: { type: 'number', minimum: 0, description: 'See `/v1/check`.' },
  deniedBy: { type: 'array', items: { type: 'string' }, description: 'The levels that deny.' },
  levels: { type: 'array', items: ref('LevelDecision') },
  'degraded?': { type: 'string', description: 'Present if the store did not answer: see `/v1/check`.' },
})

/** A verdict with more members. */
function verdictWith(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const more = object(members)
  return {
    ...verdict,
    required: [...(more.required as string[]), ...(verdict.required as string[])],
    properties: { ...(more.properties as object), ...(verdict.properties as object) },
  }
}

const flag = (name: string, description: string): JsonSchema => object({ [name]: { type: 'boolean', description } })

/** The routes of the reservation door. */
export const reservationRoutes: DoorDescription = {
  title: 'Reservations',
  about:
    'Take an estimated cost now, and settle the actual cost later. What is never settled comes back after its `ttl`, also if the ' +
    'service was restarted on Redis. Every call may be repeated: a reservation ends once.',
  routes: {
    'POST /v1/reserve': {
      summary: 'Take an estimated cost until a time is over',
      description:
        'Takes as `/v1/check` does, and keeps the reservation open for `ttl`. A denial has no id. The units of concurrency limits are ' +
        'given back when the reservation ends, however it ends.',
      requestFields: {
        'Idempotency-Key':
          'Becomes the id. While that is open, the same request gets the same answer and takes nothing.',
      },
      body: {
        schema: object({ 'attributes?': ref('Attributes'), 'cost?': cost, ttl }, { additionalProperties: false }),
        example: { attributes, cost: 3, ttl: '30s' },
      },
      answers: {
        200: {
          description: 'The verdict, with the id if it is allowed.',
          schema: verdictWith({
            id: { type: ['string', 'null'], description: 'For `/v1/settle` and `/v1/cancel`. null after a denial.' },
            endsAtMs: {
              type: ['number', 'null'],
              description: "When the reservation ends by itself, in epoch milliseconds by the store's clock.",
            },
          }),
        },
      },
      problems: [422, 503],
    },
    'POST /v1/settle': {
      summary: 'Set the actual cost of a reservation',
      description:
        'Gives back what was too much, or charges what was too little, and ends the reservation. `settled` is false if it was over: ' +
        'settled, cancelled or ended before. Then nothing changes.',
      body: {
        schema: object(
          {
            id,
            actual: {
              anyOf: [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, ref('Attributes')],
              description: 'The actual cost, or the attributes that levels take their costs from.',
            },
          },
          { additionalProperties: false },
        ),
        example: { id: '8c0a6f0e-6b0f-4d57-9f3e-6f9d3f1f3c55', actual: 2 },
      },
      answers: { 200: { description: 'Did this call end it?', schema: flag('settled', 'This call ended it.') } },
      problems: [503],
    },
    'POST /v1/cancel': {
      summary: 'Give back everything that a reservation took',
      body: {
        schema: object({ id }, { additionalProperties: false }),
        example: { id: '8c0a6f0e-6b0f-4d57-9f3e-6f9d3f1f3c55' },
      },
      answers: { 200: { description: 'Did this call end it?', schema: flag('cancelled', 'This call ended it.') } },
      problems: [503],
    },
    'POST /v1/refund': {
      summary: 'Give back units of a request that was checked',
      description: 'Gives units back to every level that matches the attributes, never more than the whole quota.',
      requestFields: {
        'Idempotency-Key': 'A refund with this key takes effect once. The service remembers the key for one hour.',
      },
      body: {
        schema: object({ 'attributes?': ref('Attributes'), 'cost?': cost }, { additionalProperties: false }),
        example: { attributes, cost: 1 },
      },
      answers: {
        200: {
          description: 'The verdict for a cost of 0 afterwards.',
          schema: verdictWith({
            refunded: {
              type: 'boolean',
              description: 'False if the key was used before, or the store did not answer.',
            },
          }),
        },
      },
      problems: [503],
    },
  },
}
