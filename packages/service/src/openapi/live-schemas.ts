import { type JsonSchema, object, ref } from './route-description.js'

const text = (description: string): JsonSchema => ({ type: 'string', description })
const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description })
const ms = (description: string): JsonSchema => ({ type: 'number', minimum: 0, description })
const flag = (description: string): JsonSchema => ({ type: 'boolean', description })
const list = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description })
const names = (description: string): JsonSchema => list({ type: 'string' }, description)

const figures = (description: string): JsonSchema =>
  list(
    object({ name: { type: 'string' }, value: { type: 'number' }, unit: { enum: ['', 'bytes', '/s', 'units'] } }),
    description,
  )

const service = object({
  version: text('The version of the service.'),
  host: text('The machine.'),
  pid: count('The process; with `--workers`, the first one.'),
  startedMs: ms('When it started, in epoch milliseconds.'),
  workers: count('How many processes or threads serve.'),
  store: text('`memory`, or the address of Redis without its password.'),
  isExample: flag('Is the policy the example, and not a file of the operator?'),
  hasAdmin: flag('Is the admin API on?'),
  isAdmin: flag('Had this request the admin token? Otherwise keys are masked.'),
  attributes: names('The attributes that the policy asks about.'),
})

/** The data of the events of `GET /v1/live`, by the names that the description uses. */
export const liveSchemas: Readonly<Record<string, JsonSchema>> = {
  LiveHello: object(
    {
      service,
      levels: ref('LiveLevels'),
      policy: ref('LivePolicy'),
      'demo?': ref('LiveDemo'),
      seconds: list(ref('LiveFrame'), 'The last five minutes, a frame a second, the oldest first.'),
      tens: list(ref('LiveFrame'), 'The last hour, a frame every ten seconds, the oldest first.'),
    },
    { description: '`hello`: the first event.' },
  ),
  LiveLevels: object(
    {
      version: count('Counts reloads. A frame names the version of its levels.'),
      policy: text('The name of the policy.'),
      levels: list(
        object({ name: { type: 'string' }, limits: list(ref('Limit'), 'The limits.'), 'shadow?': { const: true } }),
        'In the order of the counts of a frame.',
      ),
    },
    { description: '`levels`: another policy is in force.' },
  ),
  LivePolicy: object(
    {
      problems: {
        ...count('How many problems the policy file has that was read last, at most 200. 0: it is in force.'),
        maximum: 200,
      },
    },
    {
      description: '`policy`: the policy file was read again. If it has problems, the policy before it stays in force.',
    },
  ),
  LiveFrame: object(
    {
      atMs: ms('When the span ended, in epoch milliseconds.'),
      elapsedMs: ms('How long it was.'),
      allowed: count('Requests that were allowed.'),
      denied: count('Requests that were denied.'),
      errors: count('Requests that failed: the store did not answer, and no rule decided in its place.'),
      degraded: count('How many of the allowed and denied were decided without the store.'),
      p50Ms: ms('Half of the decisions took at most this long.'),
      p99Ms: ms('Of a hundred decisions, 99 took at most this long.'),
      worstDelayMs: ms('The longest delay of the event loop.'),
      workers: count('How many workers have reported.'),
      version: count('The version of the levels.'),
      levels: list(count(''), 'Four counts for each level: admitted, denied, denied in shadow, degraded.'),
    },
    {
      description: '`frame`: what was decided since the frame before, once a second. With `--workers`, by all workers.',
    },
  ),
  LiveStore: object(
    {
      kind: { enum: ['memory', 'redis', 'other'] },
      state: { enum: ['well', 'degraded'] },
      text: text('A sentence about the state.'),
      figures: figures('The figures of the store. Those of several workers are added up.'),
      'leases?': figures('What is held in front of Redis on lease.'),
    },
    { description: '`store`: how the store is, once a second.' },
  ),
  LiveKey: object({
    level: { type: 'string' },
    key: text('The key, or a mask that is the same for the same key until the service ends.'),
    count: count('How often it came, at most.'),
    error: count('By how much `count` may be too large.'),
  }),
  LiveTopKeys: object(
    {
      sinceMs: ms('From then on requests are counted, in epoch milliseconds: one to two minutes ago.'),
      byLoad: list(ref('LiveKey'), 'The keys with the most requests.'),
      byDenials: list(ref('LiveKey'), 'The keys with the most denials.'),
    },
    { description: '`keys`: the top keys of the level, or of all levels, every two seconds.' },
  ),
  LiveRequests: list(
    object({
      id: text('Names the request in `POST /v1/inspect`.'),
      atMs: ms('When it was decided, in epoch milliseconds.'),
      allowed: flag('Was it allowed?'),
      deniedBy: names('The levels that denied it.'),
      degraded: flag('Was it decided without the store?'),
      cost: count('The cost of the call.'),
      attributes: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description:
          'Those that the policy asks about. Values other than `method` and `path` are masked without the token.',
      },
    }),
    '`requests`: a sample of the last requests, at most 10 allowed and 10 denied ones a second.',
  ),
  LiveDemo: object(
    { isRunning: flag('Does the demo send requests?') },
    { description: '`demo`: the traffic of the demo has begun or ended.' },
  ),
  LiveEnd: object({ reason: { type: 'string' } }, { description: '`end`: the service shuts down.' }),
}
