import { cost } from './check-routes.js'
import { type AnswerDescription, type DoorDescription, type JsonSchema, object, ref } from './route-description.js'

const attributes = { merchant: 'acct_1' }
const closed = { additionalProperties: false }
const number: JsonSchema = { type: 'number' }
const names = (description: string): JsonSchema => ({ type: 'array', items: { type: 'string' }, description })
const level: JsonSchema = { type: 'string', description: 'The name of the level.' }
const done = (name: string, description: string): Readonly<Record<number, AnswerDescription>> => ({
  200: { description, schema: object({ [name]: names(description) }), example: { [name]: ['merchant'] } },
})
const whole = (least: number, most: number, otherwise: number): JsonSchema => ({
  type: 'integer',
  minimum: least,
  maximum: most,
  default: otherwise,
})

/** The routes of the admin door. */
export const adminRoutes: DoorDescription = {
  title: 'Admin',
  about:
    'For operators. The service has these only with `--admin-token`, and wants it in `Authorization: Bearer TOKEN`. After ten ' +
    'wrong tokens in a row from one address, the service compares six a minute from there.',
  needsToken: true,
  routes: {
    'POST /v1/admin/peek': {
      summary: 'See what a check would say now, and take nothing',
      description:
        'In each level, `remaining` is what is there before the request. A request that matches no level is a 400.',
      body: {
        schema: object({ 'attributes?': ref('Attributes'), 'cost?': cost }, closed),
        example: { attributes },
      },
      answers: { 200: { description: 'The verdict that `/v1/check` would give now.', schema: ref('Verdict') } },
      problems: [503],
    },
    'POST /v1/admin/explain': {
      summary: 'See which levels match, and why',
      description:
        'Lists every level with its key, cost, limits and the decisions that a check would get now. Takes nothing.',
      body: {
        schema: object({ 'attributes?': ref('Attributes'), 'cost?': cost }, closed),
        example: { attributes },
      },
      answers: {
        200: {
          description: 'All levels, in the order of the policy.',
          schema: object({
            levels: { type: 'array', items: ref('Explanation') },
            unused: { type: 'array', items: ref('UnusedAttribute') },
          }),
        },
      },
      problems: [503],
    },
    'POST /v1/admin/reset': {
      summary: 'Forget the keys of a request',
      description:
        'The whole quota of these keys is there again. Ends their blocks. A request that matches none of the levels is a 400.',
      body: {
        schema: object(
          {
            'attributes?': ref('Attributes'),
            'levels?': names('Only these levels. Default: all that match, also those with one state for all requests.'),
          },
          closed,
        ),
        example: { attributes, levels: ['merchant'] },
      },
      answers: done('reset', 'The levels whose keys were forgotten.'),
      problems: [503],
    },
    'POST /v1/admin/set': {
      summary: 'Set how many units the keys of a request have left',
      description:
        'Afterwards each key has exactly `remaining` units, as if the rest of its quota had just been taken. Its block stays.\n\nBy ' +
        'default this sets every level that matches, has a key and is no shadow. A level with a concurrency limit, or with a ' +
        'quota below `remaining`, is a 400, and nothing is set then.',
      body: {
        schema: object(
          {
            'attributes?': ref('Attributes'),
            remaining: { type: 'integer', minimum: 0, description: 'Units that are left afterwards: 0 to the quota.' },
            'levels?': names('Only these levels. Default: all that match, have a key and are no shadow.'),
          },
          closed,
        ),
        example: { attributes, remaining: 0, levels: ['merchant'] },
      },
      answers: done('set', 'The levels whose keys were set.'),
      problems: [503],
    },
    'POST /v1/admin/block': {
      summary: 'Deny the keys of a request for a time',
      description:
        'Denies even if units are left. A later block replaces an earlier one; `reset` ends it.\n\nBy default this blocks ' +
        'every level that matches and has a key. A level without a key would deny every client, so `levels` must name it.',
      body: {
        schema: object(
          {
            'attributes?': ref('Attributes'),
            duration: ref('Duration'),
            'levels?': names('Only these levels. Default: all that match, have a key and are no shadow.'),
          },
          closed,
        ),
        example: { attributes, duration: '10m', levels: ['merchant'] },
      },
      answers: done('blocked', 'The levels that deny the keys now.'),
      problems: [503],
    },
    'GET /v1/admin/overrides': {
      summary: 'List the run-time overrides',
      query: {
        level: { schema: { type: 'string' }, description: 'Only those of this level.' },
        limit: { schema: whole(1, 10_000, 1_000), description: 'At most so many.' },
      },
      answers: {
        200: {
          description: 'Those in force, in the order of the levels.',
          schema: object({
            total: { type: 'integer', minimum: 0, description: 'How many there are.' },
            overrides: { type: 'array', items: ref('RunTimeOverride') },
          }),
        },
      },
      problems: [400, 503],
    },
    'POST /v1/admin/overrides': {
      summary: 'Set other limits for one key',
      description:
        'They replace all limits of the level for this key, from now on. On Redis, every process applies them within two ' +
        'seconds. A later override of the key replaces an earlier one.',
      body: {
        schema: object(
          {
            level,
            key: {
              description: "The value of the level's key attribute; a list if the key has several attributes or none.",
              anyOf: [{ type: ['string', 'number'] }, { type: 'array', items: { type: ['string', 'number'] } }],
            },
            limit: ref('Limits'),
            'until?': {
              type: ['string', 'number'],
              description: 'When it ends: `2027-01-31T12:00:00Z`, or epoch milliseconds. Default: when it is removed.',
            },
          },
          closed,
        ),
        example: {
          level: 'merchant',
          key: 'acct_1',
          limit: { algorithm: 'token-bucket', capacity: 2000, refill: '1000/s' },
          until: '2099-12-31T23:59:59Z',
        },
      },
      answers: {
        200: { description: 'The override is in force.', schema: object({ override: ref('RunTimeOverride') }) },
      },
      problems: [503],
    },
    'POST /v1/admin/overrides/remove': {
      summary: 'Remove the override of one key',
      description:
        "The level's own limits apply again. Nothing changes if the key has none. The key is in the body, because addresses are logged.",
      body: {
        schema: object({ level, key: ref('Key') }, closed),
        example: { level: 'merchant', key: 'acct_1' },
      },
      answers: { 200: { description: 'The key has no override.', schema: object({ removed: { const: true } }) } },
      problems: [503],
    },
    'GET /v1/admin/top-keys': {
      summary: 'The keys with the most requests and denials',
      description:
        'For each level, from the last one to two minutes. A bounded sketch counts them: a count may be too large, by at most ' +
        'its `error`.',
      query: { limit: { schema: whole(1, 200, 20), description: 'At most so many keys of each level.' } },
      answers: { 200: { description: 'The top keys by level.', schema: ref('TopKeys') } },
      problems: [400],
    },
    'GET /v1/admin/policy': {
      summary: 'The policy in force',
      answers: {
        200: {
          description: 'The policy as the file has it.',
          schema: object({
            name: { type: 'string', description: 'The name under which the store keeps its states.' },
            attributes: names('The attributes that it asks about.'),
            policy: ref('Policy'),
            warnings: {
              type: 'array',
              description: 'Levels and limits that can never deny.',
              items: object({ line: number, column: number, message: { type: 'string' } }),
            },
            inForce: ref('PolicyText'),
            'refused?': {
              ...ref('PolicyText'),
              description: 'The text that was read last, if it is bad. The policy in force stays until it is mended.',
            },
          }),
        },
      },
    },
    'GET /v1/admin/events': {
      summary: 'A summary of each second, as it happens',
      description:
        'Server-sent events: an event `summary` once a second, with the decisions since the one before, until the client goes ' +
        'away or the service ends. A client that does not read is dropped. At most 32 clients listen at a time.',
      query: {
        keys: {
          schema: whole(0, 200, 0),
          description: 'Adds the top keys to each summary, at most so many of each level.',
        },
      },
      answers: {
        200: {
          description: 'A stream of events. The data of each is JSON, like the schema says.',
          type: 'text/event-stream; charset=utf-8',
          schema: ref('Summary'),
        },
      },
      problems: [400, 503],
    },
  },
}
