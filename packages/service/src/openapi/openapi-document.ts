import { readFileSync } from 'node:fs'
import { adminRoutes } from './admin-routes.js'
import { checkRoutes } from './check-routes.js'
import { componentSchemas } from './component-schemas.js'
import { envoyRoutes } from './envoy-routes.js'
import { gateRoutes } from './gate-routes.js'
import { healthRoutes } from './health-routes.js'
import { liveRoutes } from './live-routes.js'
import { pageRoutes } from './page-routes.js'
import { reservationRoutes } from './reservation-routes.js'
import type { AnswerDescription, DoorDescription, JsonSchema, RouteDescription } from './route-description.js'
import { storeRoutes } from './store-routes.js'

/** The descriptions of all doors, in the order of the page. */
export const doorDescriptions: readonly DoorDescription[] = [
  checkRoutes,
  reservationRoutes,
  gateRoutes,
  envoyRoutes,
  storeRoutes,
  adminRoutes,
  liveRoutes,
  healthRoutes,
  pageRoutes,
]

const MANIFEST = new URL('../../package.json', import.meta.url)
const ANY_METHOD = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']

/** Problems that many routes have. */
const PROBLEMS: Readonly<Record<number, AnswerDescription>> = {
  400: { description: 'The request is not valid. `detail` says what would be right.' },
  401: {
    description: 'The token is missing or wrong.',
    fields: { 'WWW-Authenticate': 'The scheme that the service wants: `Bearer`.' },
  },
  403: { description: 'The service has no admin token, so the admin API is off.' },
  404: { description: 'There is nothing. `detail` says why.' },
  413: { description: 'The body is too large.' },
  422: { description: 'The Idempotency-Key names a reservation of another request.' },
  429: {
    description: 'Too many wrong tokens came from this address. A right token is not accepted either until then.',
    fields: { 'Retry-After': 'In how many seconds the next token is compared.' },
  },
  500: { description: 'The service failed. Its log says why.' },
  503: { description: 'The store did not answer.' },
}

/** What a document describes, by path and method. */
export interface OpenapiDocument {
  readonly openapi: string
  readonly info: JsonSchema
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>>; readonly securitySchemes: JsonSchema }
}

/** The description of all routes of the service as an OpenAPI 3.1 document. */
export function openapiDocument(): OpenapiDocument {
  const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly version: string }
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const door of doorDescriptions) {
    for (const [route, description] of Object.entries(door.routes)) {
      const [method, path] = route.split(' ')
      paths[path] ??= {}
      for (const each of method === 'ANY' ? ANY_METHOD : [method.toLowerCase()])
        paths[path][each] = operationOf(door, operationId(each, path), description)
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      summary: 'Decides whether a request may go.',
      description: 'The HTTP API of `sluice serve`. Bodies are JSON. A number that would be infinite is null.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    tags: doorDescriptions.map(({ title, about }) => ({ name: title, description: about })),
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        adminToken: { type: 'http', scheme: 'bearer', description: 'The text of `--admin-token`.' },
      },
    },
  }
}

/** Every status of a route, and the answer that it stands for. */
export function answersOf(door: DoorDescription, route: RouteDescription): Readonly<Record<number, AnswerDescription>> {
  const statuses = [
    ...(door.needsToken ? [401, 403, 429] : []),
    ...(route.body === undefined ? [] : [400, 413]),
    ...(route.problems ?? []),
    500,
  ]
  const problems = statuses.map((status) => [
    status,
    { ...PROBLEMS[status], type: 'application/problem+json', schema: { $ref: '#/components/schemas/Problem' } },
  ])
  return { ...(Object.fromEntries(problems) as Record<number, AnswerDescription>), ...route.answers }
}

function operationOf(door: DoorDescription, id: string, route: RouteDescription): JsonSchema {
  const { summary, description, query = {}, requestFields = {}, body } = route
  const parameters = [
    ...Object.entries(query).map(([name, parameter]) => ({ name, in: 'query', ...parameter })),
    ...Object.entries(requestFields).map(([name, about]) => ({
      name,
      in: 'header',
      description: about,
      schema: { type: 'string' },
    })),
  ]
  const answers = Object.entries(answersOf(door, route))
  return {
    operationId: id,
    tags: [door.title],
    summary,
    ...(description !== undefined && { description }),
    ...(door.needsToken && { security: [{ adminToken: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: body.schema, example: body.example } } },
    }),
    responses: Object.fromEntries(answers.map(([status, answer]) => [status, responseOf(answer)])),
  }
}

function responseOf({
  description,
  type = 'application/json',
  schema,
  example,
  fields,
}: AnswerDescription): JsonSchema {
  const media = { ...(schema !== undefined && { schema }), ...(example !== undefined && { example }) }
  return {
    description,
    ...(fields !== undefined && {
      headers: Object.fromEntries(
        Object.entries(fields).map(([name, about]) => [name, { description: about, schema: { type: 'string' } }]),
      ),
    }),
    ...((schema !== undefined || type !== 'application/json') && { content: { [type]: media } }),
  }
}

/** `post-v1-check-batch` */
function operationId(method: string, path: string): string {
  return [method, ...path.split(/[^A-Za-z0-9]+/).filter((part) => part !== '')].join('-')
}
