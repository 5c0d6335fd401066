import { type DoorDescription, type JsonSchema, object, ref } from './route-description.js'

const attributes = { method: 'POST', path: '/v1/charges', ip: '192.0.2.7', merchant: 'acct_1' }

export const cost: JsonSchema = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: 1,
  description: 'Units to take.',
}

const check = object(
  { 'attributes?': ref('Attributes'), 'cost?': cost },
  { additionalProperties: false, description: 'A request that a client made, as attributes.' },
)

const denied = {
  allowed: false,
  retryAfterMs: 40,
  delayMs: 0,
  deniedBy: ['merchant'],
  levels: [
    {
      name: 'merchant',
      allowed: false,
      quota: 100,
      remaining: 0,
      retryAfterMs: 40,
      nextUnitAfterMs: 40,
      resetAfterMs: 4000,
      delayMs: 0,
    },
  ],
}

/** The routes of the check door. */
export const checkRoutes: DoorDescription = {
  title: 'Decisions',
  about: 'Ask whether a request may go. A denial is an answer with status 200, and takes nothing.',
  routes: {
    'POST /v1/check': {
      summary: 'Ask about one request',
      description:
        'Takes from every level of the policy that matches the attributes, or from none. `allowed` says whether the request ' +
        'may go; `retryAfterMs` says when the same request can succeed.',
      body: { schema: check, example: { attributes, cost: 1 } },
      answers: { 200: { description: 'The verdict, allowed or denied.', schema: ref('Verdict'), example: denied } },
      problems: [503],
    },
    'POST /v1/check/batch': {
      summary: 'Ask about up to 1,000 requests',
      description:
        'The service decides the requests in their order, each for itself: one that is denied does not stop the others. All ' +
        'are read before the first is decided, so a mistake in one takes nothing.',
      body: {
        schema: object({ checks: { type: 'array', maxItems: 1_000, items: check } }, { additionalProperties: false }),
        example: { checks: [{ attributes }, { attributes: { ...attributes, merchant: 'acct_2' }, cost: 3 }] },
      },
      answers: {
        200: {
          description: 'One verdict for each request, in their order.',
          schema: object({ verdicts: { type: 'array', items: ref('Verdict') } }),
        },
      },
      problems: [503],
    },
  },
}
