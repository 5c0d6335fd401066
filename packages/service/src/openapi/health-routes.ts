import { type DoorDescription, object } from './route-description.js'

/** The routes of the health door and of the documentation. */
export const healthRoutes: DoorDescription = {
  title: 'Health and documentation',
  about: 'For load balancers, scrapers and people. No answer contains a key of a client.',
  routes: {
    'GET /healthz': {
      summary: 'Is the process alive?',
      answers: { 200: { description: 'The process answers.', schema: object({ status: { const: 'ok' } }) } },
    },
    'GET /readyz': {
      summary: 'Should the service get requests?',
      description:
        'Makes a real decision on the store. 503 during the shutdown, and while the store does not answer and no rule decides ' +
        'in its place.',
      answers: {
        200: {
          description: 'The service decides. `degraded`: by its rule, because the store does not answer.',
          schema: object({
            status: { enum: ['ready', 'degraded'] },
            'reason?': { type: 'string', description: 'Why it is degraded.' },
          }),
        },
      },
      problems: [503],
    },
    'GET /metrics': {
      summary: 'Counts for Prometheus',
      answers: {
        200: {
          description: 'Decisions by policy, level and outcome, durations, doors, store and process.',
          type: 'text/plain; version=0.0.4; charset=utf-8',
          schema: { type: 'string' },
        },
      },
    },
    'GET /openapi.json': {
      summary: 'This description as OpenAPI 3.1',
      answers: {
        200: {
          description: 'An OpenAPI document.',
          schema: object({ openapi: { type: 'string', pattern: '^3\\.1\\.' } }, { additionalProperties: true }),
        },
      },
    },
    'GET /docs': {
      summary: 'This description as a page',
      answers: {
        200: {
          description: 'A page of HTML without scripts.',
          type: 'text/html; charset=utf-8',
          schema: { type: 'string' },
        },
      },
    },
  },
}
