import { type DoorDescription, object } from './route-description.js'

const whole = (description: string) => ({ type: ['integer', 'string'], description })
const headers = (description: string) => ({
  type: 'array',
  items: object({ 'key?': { type: 'string' }, 'value?': { type: 'string' } }),
  description,
})

const response = object({
  overallCode: { enum: ['OK', 'OVER_LIMIT'], description: 'May the request go?' },
  'statuses?': {
    type: 'array',
    description: 'One for each descriptor, in their order: of its tightest level.',
    items: object({
      code: { enum: ['OK', 'OVER_LIMIT'] },
      'currentLimit?': object({
        requestsPerUnit: { type: 'integer', description: 'The quota of a window, or the capacity of a bucket.' },
        'unit?': {
          enum: ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'],
          description: 'The time in which the whole quota comes back, if it is one of these.',
        },
        'name?': { type: 'string', description: 'The level.' },
      }),
      'limitRemaining?': { type: 'integer', description: 'Units that are left. Absent: 0.' },
      'durationUntilReset?': {
        type: 'string',
        pattern: '^[0-9.]+s$',
        description: 'Until the whole quota is there or, with nothing left, until the request may go.',
      },
    }),
  },
  'responseHeadersToAdd?': headers('Fields that tell the client its quota: see `--envoy-headers`.'),
  'requestHeadersToAdd?': headers('Fields for the server behind Envoy.'),
  'rawBody?': { type: 'string', description: 'Problem details for a client that is denied, in base64.' },
  'dynamicMetadata?': { type: 'object', description: '`deniedBy`: the levels that deny.' },
})

/** The routes of the door for Envoy that are HTTP. */
export const envoyRoutes: DoorDescription = {
  title: 'Envoy',
  about:
    'What Envoy asks over gRPC (`--grpc`), in JSON, at the paths of envoyproxy/ratelimit. For scripts, and to try a configuration.',
  routes: {
    'POST /json': {
      summary: 'May a request with these descriptors go?',
      description:
        'A `RateLimitRequest` of `envoy.service.ratelimit.v3` in the JSON form of proto3. Each descriptor is a request, and its entries ' +
        'are the attributes. All of them pass together, or none takes anything.',
      body: {
        schema: object({
          domain: { type: 'string', description: 'The attribute `domain`.' },
          descriptors: {
            type: 'array',
            minItems: 1,
            items: object({
              entries: { type: 'array', items: object({ key: { type: 'string' }, 'value?': { type: 'string' } }) },
              'limit?': object(
                {
                  requestsPerUnit: whole('The quota.'),
                  unit: {
                    type: ['string', 'integer'],
                    description: '`SECOND`, `MINUTE`, `HOUR`, `DAY`, `WEEK`, `MONTH` or `YEAR`.',
                  },
                },
                { description: 'Replaces the limits of every level that matches.' },
              ),
              'hitsAddend?': whole('Units to take, in place of those of the request. 0 only looks.'),
              'isNegativeHits?': { type: 'boolean', description: 'Gives the units back.' },
            }),
          },
          'hitsAddend?': whole('Units to take for each descriptor. Default 1.'),
        }),
        example: { domain: 'api', descriptors: [{ entries: [{ key: 'merchant', value: 'acme' }] }] },
      },
      answers: {
        200: { description: 'The request may go.', schema: response },
        429: { description: 'The request is denied.', schema: response },
      },
    },
    'GET /healthcheck': {
      summary: 'Should the service get requests?',
      answers: {
        200: { description: 'The service decides.', type: 'text/plain; charset=utf-8', schema: { const: 'OK' } },
        500: {
          description: 'It does not. `/readyz` says why.',
          type: 'text/plain; charset=utf-8',
          schema: { type: 'string' },
        },
      },
    },
  },
}
