import { cost } from './check-routes.js'
import { type DoorDescription, object, ref } from './route-description.js'

const question = object(
  {
    'attributes?': ref('Attributes'),
    'recent?': { type: 'string', description: 'The id of a recent request, in place of attributes.' },
    'cost?': { ...cost, description: 'Units to take. Default: 1, or the cost of the recent request.' },
  },
  { additionalProperties: false },
)

/** The routes of the page, and of what it asks the service. */
export const pageRoutes: DoorDescription = {
  title: 'The page',
  about:
    'For people: live charts, inspection of requests, and a laboratory of limits. With `--page off` the service has none of ' +
    'these routes.',
  routes: {
    'GET /': {
      summary: 'The page',
      description:
        'Loads one script and one style sheet from `/page/`. They are named by their contents, so their names change with the ' +
        'version. Nothing is loaded from elsewhere.',
      answers: {
        200: {
          description: 'HTML, compressed if the client takes gzip. The page itself needs no token; it asks for one.',
          type: 'text/html; charset=utf-8',
          schema: { type: 'string' },
          fields: { ETag: 'Send it in `If-None-Match`.' },
        },
        304: { description: 'The client has the page already.' },
      },
      problems: [404],
    },
    'POST /v1/inspect': {
      summary: 'See how every level applies to a request now',
      description:
        'Takes nothing and needs no token. Without the admin token, conditions of the policy are quoted only if they are about ' +
        '`method` or `path`, and keys and values of a recent request are masked. A wrong token is refused, and a ' +
        'browser that asks for a page of another site.',
      body: { schema: question, example: { attributes: { method: 'POST', path: '/v1/charges', merchant: 'acct_1' } } },
      answers: { 200: { description: 'What a check would say now, level by level.', schema: ref('Inspection') } },
      problems: [401, 403, 404, 429, 503],
    },
    'POST /v1/demo': {
      summary: 'Begin or end the traffic of the demo',
      description:
        'Only a service with the example policy has a demo, unless `--demo off` leaves it out; the answer of any other is 404. ' +
        'Needs no token. Browsers that ask for a page of another site are refused.',
      body: {
        schema: object({ running: { type: 'boolean' } }, { additionalProperties: false }),
        example: { running: false },
      },
      answers: { 200: { description: 'Done.', schema: object({ running: { type: 'boolean' } }) } },
      problems: [403, 404],
    },
  },
}
