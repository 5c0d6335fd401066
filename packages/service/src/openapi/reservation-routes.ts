import { cost } from './check-routes.js'
import { type DoorDescription, type JsonSchema, object, ref } from './route-description.js'

const attributes = { method: 'POST', path: '/v1/charges', ip: '192.0.2.7', merchant: 'acct_1' }
const id: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'The id that /v1/reserve answered.',
}
const closed = { additionalProperties: false }
const idempotencyKey = (meaning: string) => ({ 'Idempotency-Key': meaning })

/** The routes of the reservation door. */
export const reservationRoutes: DoorDescription = {
  title: 'Reservations',
  about:
    'Take an estimated cost now and settle the actual cost later. A reservation that is never settled gives its units back ' +
    'when its `ttl` is over, even if the service was restarted meanwhile, provided that its store is a Redis.',
  routes: {
    'POST /v1/reserve': {
      summary: 'Take an estimated cost until a ttl is over',
      requestFields: idempotencyKey(
        'Becomes the id. A repeated request with the same key gets the same reservation and takes nothing more.',
      ),
      body: {
        schema: object(
          {
            'attributes?': ref('Attributes'),
            'cost?': cost,
            ttl: { type: 'string', description: 'How long the units are held at most: `"30s"`. At most `"1d"`.' },
          },
          closed,
        ),
        example: { attributes, cost: 10, ttl: '30s' },
      },
      answers: { 200: { description: 'The verdict, and the id if it is allowed.', schema: ref('Reservation') } },
      problems: [422, 503],
    },
    'POST /v1/settle': {
      summary: 'Set the actual cost of a reservation, and end it',
      description:
        'Each level refunds what was too much, or charges what was too little. Places of concurrency limits are given back. ' +
        'The first `settle` or `cancel` of a reservation takes effect; later ones change nothing and answer `false`.',
      body: {
        schema: object(
          {
            id,
            actual: {
              description: 'The actual cost; or the attributes from which levels take their costs.',
              oneOf: [{ type: 'integer', minimum: 0 }, ref('Attributes')],
            },
          },
          closed,
        ),
        example: { id: 'kq3v9x2m', actual: 7 },
      },
      answers: {
        200: {
          description: '`true` if this call ended the reservation; `false` if it was over already, or never was.',
          schema: object({ settled: { type: 'boolean' } }),
        },
      },
      problems: [503],
    },
    'POST /v1/cancel': {
      summary: 'Give back everything that a reservation took',
      body: { schema: object({ id }, closed), example: { id: 'kq3v9x2m' } },
      answers: {
        200: {
          description: '`true` if this call ended the reservation; `false` if it was over already, or never was.',
          schema: object({ cancelled: { type: 'boolean' } }),
        },
      },
      problems: [503],
    },
    'POST /v1/refund': {
      summary: 'Give units of earlier requests back',
      requestFields: idempotencyKey(
        'A repeated request with the same key gives nothing back. It is remembered for an hour. After a 503 that says that ' +
          'nothing was given back, the same request may be sent again.',
      ),
      body: {
        schema: object({ 'attributes?': ref('Attributes'), 'cost?': cost }, closed),
        example: { attributes, cost: 1 },
      },
      answers: { 200: { description: 'Whether units came back.', schema: ref('Refund') } },
      problems: [503],
    },
  },
}
