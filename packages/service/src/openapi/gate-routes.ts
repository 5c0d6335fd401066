import { type AnswerDescription, type DoorDescription, ref } from './route-description.js'

const quota = {
  RateLimit: 'What is left, and when there is more. A proxy can hand it to the client.',
  'RateLimit-Policy': 'The limits that apply.',
}

const denied = (description: string): AnswerDescription => ({
  description,
  type: 'application/problem+json',
  schema: ref('Problem'),
  fields: { ...quota, 'Retry-After': 'In how many seconds the same request can succeed.' },
})

/** The routes of the gate. */
export const gateRoutes: DoorDescription = {
  title: 'Gate for proxies',
  about:
    'For sub-requests of nginx, Caddy, HAProxy and others: the attributes come from header fields, and the status is the ' +
    'answer. Only trusted proxies may ask (`--trusted-proxies`).',
  routes: {
    'ANY /v1/gate': {
      summary: 'May the request of a client go?',
      description:
        'Asks the policy about the request that the fields describe. `--gate-attributes merchant=x-merchant` names the fields ' +
        'of further attributes. If a leaky bucket makes the request wait, the answer comes when it is its turn.',
      query: {
        deny: {
          schema: { enum: ['403', '429'] },
          description: 'The status of a denial. nginx wants 403. Default 429.',
        },
      },
      requestFields: {
        'X-Original-Method': 'The method of the request, or `X-Forwarded-Method`.',
        'X-Original-URI': 'Its path and query, or `X-Forwarded-Uri`.',
        'X-Forwarded-For': 'The addresses of the client and of the proxies behind it.',
      },
      answers: {
        204: { description: 'The request may go.', fields: quota },
        400: {
          description: 'The peer is no trusted proxy, or a field that the policy needs is missing.',
          type: 'application/problem+json',
          schema: ref('Problem'),
        },
        403: denied('The request is denied, with `?deny=403`.'),
        429: denied('The request is denied.'),
      },
      problems: [503],
    },
  },
}
