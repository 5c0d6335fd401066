import { readFileSync } from 'node:fs'
import { liveSchemas } from './live-schemas.js'
import { type JsonSchema, object, ref } from './route-description.js'

const POLICY_SCHEMA = new URL('../../schema/policy.schema.json', import.meta.url)

const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description })
const ms = (description: string): JsonSchema => ({ type: 'number', minimum: 0, description })
const names = (description: string): JsonSchema => ({ type: 'array', items: { type: 'string' }, description })
/** JSON has no infinity. */
const units = (description: string): JsonSchema => ({ type: ['integer', 'null'], minimum: 0, description })
const wait = (description: string): JsonSchema => ({ type: ['number', 'null'], minimum: 0, description })

const degraded: JsonSchema = {
  enum: ['open', 'closed', 'local', 'overrides'],
  description:
    'Present if the store did not answer: the rule that decided in its place. `overrides`: the store decided, but may not ' +
    'have known all run-time overrides.',
}

const decision = {
  allowed: { type: 'boolean', description: 'Does this limit allow the request?' },
  quota: units('The most units that the limit ever has. null: it is unlimited.'),
  remaining: units('Units that are left after this decision. null: any number.'),
  retryAfterMs: wait('After how long the same request can succeed; 0 if it was allowed. null: never.'),
  nextUnitAfterMs: wait('After how long there is more than now. null: never.'),
  resetAfterMs: wait('After how long the whole quota is there. null: never.'),
  delayMs: ms('How long an allowed request should wait for its turn in a leaky bucket.'),
  'degraded?': degraded,
}

const verdict = {
  allowed: { type: 'boolean', description: 'May the request go?' },
  retryAfterMs: wait('After how long the same request can succeed; 0 if it was allowed. null: never.'),
  delayMs: ms('How long an allowed request should wait for its turn in a leaky bucket.'),
  deniedBy: names('The levels that deny.'),
  levels: {
    type: 'array',
    items: ref('LevelDecision'),
    description: 'One for each limit of the levels that match.',
  },
  'degraded?': degraded,
}

const schemas: Readonly<Record<string, JsonSchema>> = {
  Problem: object(
    {
      type: { type: 'string', format: 'uri-reference' },
      title: { type: 'string', description: 'The kind of problem.' },
      status: { type: 'integer', description: 'The status of the answer.' },
      'detail?': { type: 'string', description: 'What is wrong with this request, and what would be right.' },
      'violated-policies?': names('The limits that deny, if the status is 429.'),
    },
    { description: 'Problem details (RFC 9457). The request changed nothing.' },
  ),
  Attributes: {
    type: 'object',
    description:
      'What the request is: method, path, ip, and the attributes of your policy. null or no member means that the request ' +
      'does not have it. The policy ignores attributes that it does not ask about.',
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  },
  Verdict: object(verdict, {
    description: 'The answer to a request. It took from every level that matches, or from none.',
  }),
  Reservation: object(
    {
      id: {
        type: ['string', 'null'],
        description: 'Names the reservation for settle and cancel. null: it was denied.',
      },
      endsAtMs: {
        type: ['number', 'null'],
        description: 'When the units come back by themselves, in epoch milliseconds. null: it was denied.',
      },
      ...verdict,
    },
    { description: 'A verdict, and the reservation if it is allowed.' },
  ),
  Refund: object(
    {
      refunded: { type: 'boolean', description: 'Did this call give the units back?' },
      ...verdict,
    },
    { description: 'Whether units came back, and the verdict of a peek at a cost of 1 afterwards.' },
  ),
  LevelDecision: object(
    {
      name: { type: 'string', description: 'The level.' },
      ...decision,
      'shadow?': { const: true, description: 'The denial of this level does not deny the request.' },
    },
    { description: 'The decision of one limit.' },
  ),
  Decision: object(decision, { description: 'The decision of one limit.' }),
  Explanation: object(
    {
      level: { type: 'string' },
      matches: { type: 'boolean' },
      'because?': { type: 'string', description: 'Why the level does not match.' },
      'key?': { type: 'string' },
      'from?': {
        enum: ['level', 'override', 'run-time override'],
        description: 'Where the limits in force come from.',
      },
      'noOverride?': { type: 'string', description: "Why none of the level's overrides applies, if it has any." },
      'mismatches?': {
        type: 'array',
        items: ref('Mismatch'),
        description: 'What `because` or `noOverride` says, as data.',
      },
      'cost?': count('Units that the request takes from this level.'),
      'shadow?': { const: true },
      'blockFor?': { ...ref('BlockFor'), description: 'How long the level blocks a key that exceeds.' },
      'limits?': {
        type: 'array',
        items: object({ limit: ref('Limit'), decision: ref('Decision') }),
        description: 'The limits in force, each with what a peek at this cost says.',
      },
      'degraded?': { const: 'overrides', description: 'The store did not report the run-time overrides in time.' },
    },
    { description: 'How one level applies to a request.' },
  ),
  Inspection: object(
    {
      atMs: ms('When, in epoch milliseconds.'),
      policy: { type: 'string' },
      allowed: { type: 'boolean', description: 'Would the request be allowed now?' },
      deniedBy: names('The levels that would deny it.'),
      'retryAfterMs?': ms('After how long the same request can succeed; 0 if it would be allowed. Absent: never.'),
      attributes: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'The attributes that were asked about.',
      },
      cost: count('The cost of the call.'),
      levels: { type: 'array', items: ref('Explanation'), description: 'All levels, in the order of the policy.' },
      unused: {
        type: 'array',
        items: ref('UnusedAttribute'),
        description: 'Attributes that the policy never asks about.',
      },
      isMasked: { type: 'boolean', description: 'Are keys and values masked?' },
      'decided?': {
        ...object({
          atMs: ms('When, in epoch milliseconds.'),
          allowed: { type: 'boolean' },
          deniedBy: names('The levels that denied it. Empty of a denied request if the store failed with an error.'),
          degraded: { type: 'boolean', description: 'Was it decided without the store?' },
        }),
        description: 'What was decided about a recent request, when it came. Only of a recent request.',
      },
    },
    { description: 'How the policy applies to a request now.' },
  ),
  UnusedAttribute: object(
    { attribute: { type: 'string' }, 'didYouMean?': { type: 'string' } },
    { description: 'An attribute that the policy never asks about. A misspelt one would silently skip a level.' },
  ),
  PolicyText: object(
    {
      file: { type: 'string', description: "The file's name without its folders." },
      text: { type: 'string', description: 'Empty if the file could not be read.' },
      problems: {
        type: 'array',
        items: object({
          kind: { enum: ['error', 'warning'] },
          line: { type: 'integer', minimum: 1 },
          column: { type: 'integer', minimum: 1 },
          message: { type: 'string' },
        }),
        description: 'In the order of the text; of a refused text at most 200.',
      },
    },
    { description: 'A text of a policy, as it is in a file, and its problems.' },
  ),
  Mismatch: object(
    {
      attribute: { type: 'string' },
      'value?': { type: 'string', description: 'Its value in the request. Absent: the request lacks it.' },
      asked: names('The conditions on it, as JSON. Empty: the key of the level needs the attribute.'),
      'overrides?': count('How many overrides ask. Absent: the level asks.'),
    },
    { description: 'Why a level, or an override of a level, does not match a request.' },
  ),
  Key: {
    description: "The value of the level's key attribute; a list if the key has several attributes or none.",
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  },
  RunTimeOverride: object(
    {
      level: { type: 'string' },
      key: ref('Key'),
      limits: { type: 'array', items: ref('Limit'), minItems: 1 },
      'untilMs?': { type: 'number', description: 'When it ends, in epoch milliseconds. Absent: when it is removed.' },
    },
    { description: 'Limits that replace those of a level for one key.' },
  ),
  Summary: object(
    {
      atMs: ms('When it was made, in epoch milliseconds.'),
      elapsedMs: { type: 'number', description: 'How long it covers.' },
      decisions: count('All decisions.'),
      allowed: count('How many of them were allowed.'),
      denied: count('How many were denied.'),
      errors: count('How many failed: the store did not answer, and no rule decided in its place.'),
      degraded: count('How many were decided without the store.'),
      decisionsPerSecond: count('The rate.'),
      p50Ms: ms('Half of the decisions took at most this long.'),
      p99Ms: ms('Of a hundred decisions, 99 took at most this long.'),
      worstDelayMs: ms('The longest delay of the event loop.'),
      levels: {
        type: 'array',
        items: object({
          policy: { type: 'string' },
          level: { type: 'string' },
          decisions: count('Decisions of this level.'),
          denied: count('How many it denied.'),
          shadowDenied: count('How many it would have denied if it were no shadow.'),
        }),
      },
      store: object(
        { kind: { enum: ['memory', 'redis', 'other'] } },
        { additionalProperties: true, description: "The store's own counters." },
      ),
      'topKeys?': { ...ref('TopKeys'), description: 'Present if the client asked for keys.' },
    },
    { description: 'What policies decided since the summary before: about one second.' },
  ),
  CountedKey: object({
    key: { type: 'string' },
    count: count('How often it came, at most.'),
    error: count('By how much `count` may be too large.'),
  }),
  TopKeys: object({
    sinceMs: ms('From then on requests are counted, in epoch milliseconds: one to two minutes ago.'),
    levels: {
      type: 'array',
      items: object({
        policy: { type: 'string' },
        level: { type: 'string' },
        requests: count('Requests that asked this level.'),
        denials: count('Requests that it denied.'),
        byLoad: { type: 'array', items: ref('CountedKey'), description: 'The keys with the most requests.' },
        byDenials: { type: 'array', items: ref('CountedKey'), description: 'The keys with the most denials.' },
      }),
    },
  }),
}

/** The schemas that routes refer to by name. Those of a policy come from the JSON Schema of policy files. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const { $schema: _, $id: __, definitions, ...policy } = JSON.parse(readFileSync(POLICY_SCHEMA, 'utf8')) as JsonSchema
  const others = Object.entries(definitions as Record<string, JsonSchema>)
  const own = [['policy', policy] as const, ...others].map(([name, schema]) => [capitalised(name), renamed(schema)])
  return { ...schemas, ...liveSchemas, ...Object.fromEntries(own) }
}

/** The same schema, with references to components in place of definitions. */
function renamed(schema: JsonSchema): unknown {
  const text = JSON.stringify(schema)
  return JSON.parse(
    text.replaceAll(/"#\/definitions\/(\w+)"/g, (_, name: string) => `"#/components/schemas/${capitalised(name)}"`),
  )
}

function capitalised(name: string): string {
  return name[0].toUpperCase() + name.slice(1)
}
