import { createPolicy, fixedWindow, InvalidPolicyError, readPolicy } from 'sluice'
import { describe, expect, it, test } from 'vitest'
import { TEN_MB } from '../../limits/refusals.js'

const limit = fixedWindow({ quota: 5, window: '1h' })
const token = { algorithm: 'token-bucket', capacity: 20, refill: '5/s' }
const found = (policy: unknown) =>
  readPolicy(policy).problems.map(({ path, message }) => [path.join('.'), message] as const)
const level = (more: object) => ({ levels: [{ name: 'a', limit, ...more }] })
const when = (conditions: object) => level({ when: conditions })

/** A name, a policy with one mistake, its path, and a part of the message. */
const TABLE: readonly (readonly [what: string, policy: unknown, path: string, message: string | RegExp])[] = [
  ['nothing', undefined, '', 'a policy must be an object with version, name, ipv6Prefix, levels, got undefined'],
  ['null', null, '', 'got null'],
  ['a list', [], '', 'got an array'],
  ['a text', 'levels:', '', "got 'levels:'"],
  ['no levels', {}, 'levels', 'levels must be a list, got undefined'],
  ['levels that are no list', { levels: { name: 'a', limit } }, 'levels', 'levels must be a list, got an object'],
  ['an empty list of levels', { levels: [] }, 'levels', 'at least one level'],
  [
    'too many levels',
    { levels: Array.from({ length: 10_001 }, (_, i) => ({ name: `l${i}`, limit, shadow: true })) },
    'levels',
    'levels must be at most 10000, got 10001',
  ],
  [
    'a misspelt part',
    { level: [], levels: [{ name: 'a', limit }] },
    'level',
    "a policy has no 'level'; did you mean 'levels'?",
  ],
  ['another version', { version: 2, ...level({}) }, 'version', 'version must be 1, got 2'],
  ['the version as text', { version: '1', ...level({}) }, 'version', "version must be 1, got '1'"],
  ['a name with a slash', { name: 'a/b', ...level({}) }, 'name', "got 'a/b'"],
  [
    'an empty name',
    { name: '', ...level({}) },
    'name',
    "letters, digits, dots, dashes and underscores, at most 64 of them, got ''",
  ],
  ['a prefix of 0', { ipv6Prefix: 0, ...level({}) }, 'ipv6Prefix', 'a whole number from 1 to 128, got 0'],
  ['a prefix of 129', { ipv6Prefix: 129, ...level({}) }, 'ipv6Prefix', 'got 129'],
  ['a prefix as text', { ipv6Prefix: '/56', ...level({}) }, 'ipv6Prefix', "got '/56'"],

  ['an attribute in capitals', when({ Path: '/v1/charges' }), 'levels.0.when.Path', "did you mean 'path'?"],
  ['an attribute in the plural', when({ methods: ['GET'] }), 'levels.0.when.methods', "did you mean 'method'?"],
  ['a key in capitals', level({ key: ['IP'] }), 'levels.0.key.0', "did you mean 'ip'?"],

  ['a level that is not an object', { levels: ['a'] }, 'levels.0', 'a level must be an object with name, when'],
  ['null for a level', { levels: [null] }, 'levels.0', 'got null'],
  ['a level without a name', { levels: [{ limit }] }, 'levels.0.name', 'name must be text'],
  ['a number for a name', { levels: [{ name: 5, limit }] }, 'levels.0.name', 'got 5'],
  ['a name with a space', { levels: [{ name: 'a b', limit }] }, 'levels.0.name', "got 'a b'"],
  ['a name with a line break', { levels: [{ name: 'a\n', limit }] }, 'levels.0.name', 'name must be text'],
  ['a name of 65 letters', { levels: [{ name: 'a'.repeat(65), limit }] }, 'levels.0.name', 'at most 64'],
  ['a name of ten million', { levels: [{ name: TEN_MB, limit }] }, 'levels.0.name', 'xxx…'],
  [
    'a name twice',
    {
      levels: [
        { name: 'a', limit, shadow: true },
        { name: 'b', limit, shadow: true },
        { name: 'a', limit },
      ],
    },
    'levels.2.name',
    "name must be used once, but level 1 is called 'a' too",
  ],
  [
    'a misspelt part of a level',
    level({ overides: [] }),
    'levels.0.overides',
    "a level has no 'overides'; did you mean 'overrides'?",
  ],
  ['a part of no level', level({ priority: 1 }), 'levels.0.priority', "a level has no 'priority'; it has name, when"],

  ['no limit', { levels: [{ name: 'a' }] }, 'levels.0.limit', 'limit must be an object such as { algorithm:'],
  ['null for a limit', level({ limit: null }), 'levels.0.limit', 'limit must be an object such as { algorithm:'],
  ['a limit as text', level({ limit: '5/s' }), 'levels.0.limit', "got '5/s'"],
  ['an empty list of limits', level({ limit: [] }), 'levels.0.limit', 'a list of at least one'],
  ['nine limits', level({ limit: new Array(9).fill(limit) }), 'levels.0.limit', 'at most 8, got 9'],
  ['a list in a list of limits', level({ limit: [[limit]] }), 'levels.0.limit.0', 'limit must be an object such as'],
  [
    'a limit without an algorithm',
    level({ limit: { capacity: 20, refill: '5/s' } }),
    'levels.0.limit',
    'limit has no algorithm',
  ],
  [
    'an unknown algorithm',
    level({ limit: { ...token, algorithm: 'tocken-bucket' } }),
    'levels.0.limit.algorithm',
    "did you mean 'token-bucket'?",
  ],
  [
    'an algorithm that every object has',
    level({ limit: { algorithm: 'constructor' } }),
    'levels.0.limit.algorithm',
    "'constructor' is unknown",
  ],
  [
    'no capacity',
    level({ limit: { algorithm: 'token-bucket', refill: '5/s' } }),
    'levels.0.limit.capacity',
    "'token-bucket' needs capacity, such as 20",
  ],
  [
    'no window',
    level({ limit: { algorithm: 'fixed-window', quota: 5 } }),
    'levels.0.limit.window',
    "needs window, such as '1m'",
  ],
  ['a capacity below 0', level({ limit: { ...token, capacity: -1 } }), 'levels.0.limit.capacity', 'got -1'],
  [
    'a capacity that is no number',
    level({ limit: { ...token, capacity: Number.NaN } }),
    'levels.0.limit.capacity',
    'got NaN',
  ],
  [
    'a refill without a unit',
    level({ limit: { ...token, refill: 5 } }),
    'levels.0.limit.refill',
    'does not say per what',
  ],
  ['a refill in words', level({ limit: { ...token, refill: '5/sec' } }), 'levels.0.limit.refill', "written '5/s'"],
  [
    'an option of another algorithm',
    level({ limit: { ...token, window: '1s' } }),
    'levels.0.limit.window',
    "has no option 'window'",
  ],
  [
    'a limit in a list',
    level({ limit: [limit, { ...token, refill: '5' }] }),
    'levels.0.limit.1.refill',
    'refill must be a rate',
  ],

  [
    'a key that is an object',
    level({ key: { merchant: true } }),
    'levels.0.key',
    'an attribute must be a name of 1 to 128 characters, got an object',
  ],
  ['null for a key', level({ key: null }), 'levels.0.key', 'got null'],
  ['an empty name in a key', level({ key: ['a', ''] }), 'levels.0.key.1', "got ''"],
  ['a number in a key', level({ key: [5] }), 'levels.0.key.0', 'got 5'],
  ['an attribute twice in a key', level({ key: ['a', 'b', 'a'] }), 'levels.0.key.2', "key names 'a' twice"],
  ['nine attributes in a key', level({ key: [...'abcdefghi'] }), 'levels.0.key', 'at most 8 attributes, got 9'],

  [
    'a when that is a text',
    level({ when: 'POST' }),
    'levels.0.when',
    "when must be an object such as { method: 'POST', path: '/v1/charges' }, got 'POST'",
  ],
  ['a when that is a list', level({ when: [{ a: 1 }] }), 'levels.0.when', 'got an array'],
  ['null for a when', level({ when: null }), 'levels.0.when', 'got null'],
  ['an attribute without a name', when({ '': 'a' }), 'levels.0.when.', 'an attribute must be a name'],
  [
    'an undefined condition',
    when({ plan: undefined }),
    'levels.0.when.plan',
    'plan must be text, a number, true, false, null or a list of these, got undefined',
  ],
  ['an empty text', when({ plan: '' }), 'levels.0.when.plan', 'for an absent one, write null'],
  ['an empty list', when({ plan: [] }), 'levels.0.when.plan', 'a list of values must have at least one'],
  ['a list in a list', when({ plan: ['a', ['b']] }), 'levels.0.when.plan.1', 'got an array'],
  ['no number', when({ plan: Number.NaN }), 'levels.0.when.plan', 'got NaN'],
  ['a function', when({ plan: () => true }), 'levels.0.when.plan', 'got a function'],
  [
    'a regular expression',
    when({ path: /^\/v1/ }),
    'levels.0.when.path',
    'a condition that is an object has one of present, not, path, cidr; regular expressions are not supported',
  ],
  ['a regular expression in a list', when({ path: [/^\/v1/] }), 'levels.0.when.path.0', 'path must be a path such as'],
  ['an unknown word', when({ plan: { equals: 'a' } }), 'levels.0.when.plan.equals', "a condition has no 'equals'"],
  ['a misspelt word', when({ plan: { presnt: true } }), 'levels.0.when.plan.presnt', "did you mean 'present'?"],
  [
    'two words',
    when({ plan: { present: true, not: 'a' } }),
    'levels.0.when.plan',
    'a condition has one of present, not, path, cidr, got 2',
  ],
  ['no word', when({ plan: {} }), 'levels.0.when.plan', 'a condition that is an object has one of'],
  [
    'present as text',
    when({ plan: { present: 'yes' } }),
    'levels.0.when.plan.present',
    "present must be true or false, got 'yes'",
  ],
  ['not an object', when({ plan: { not: { present: true } } }), 'levels.0.when.plan.not', 'got an object'],
  ['not an empty list', when({ plan: { not: [] } }), 'levels.0.when.plan.not', 'at least one'],
  [
    'not an unknown method',
    when({ method: { not: ['GET', 'FETCH'] } }),
    'levels.0.when.method.not.1',
    "there is no method 'FETCH'",
  ],
  [
    'an unknown method',
    when({ method: 'PSOT' }),
    'levels.0.when.method',
    "there is no method 'PSOT'; did you mean 'POST'?",
  ],
  [
    'a word for all methods',
    when({ method: 'ALL' }),
    'levels.0.when.method',
    "there is no method 'ALL'; for all methods, leave method out",
  ],
  ['methods in one text', when({ method: 'GET,POST' }), 'levels.0.when.method', "there is no method 'GET,POST'"],
  ['a path without a slash', when({ path: 'v1/charges' }), 'levels.0.when.path', 'a pattern begins with a slash'],
  ['a star in a segment', when({ path: ['/ok', '/v1/ch*'] }), 'levels.0.when.path.1', "'**' at the end"],
  ['a path of another name', when({ route: { path: 'v1' } }), 'levels.0.when.route.path', 'route must be a path'],
  [
    'a value that is not an address',
    when({ ip: 'localhost' }),
    'levels.0.when.ip',
    "an address or CIDR range such as '10.0.0.0/8'",
  ],
  ['bits after the prefix', when({ ip: ['::1', '10.0.0.1/8'] }), 'levels.0.when.ip.1', "'10.0.0.0/8'"],
  ['a mapped block that would be every IPv4', when({ ip: '::ffff:10.0.0.0/8' }), 'levels.0.when.ip', '/96 to /128'],
  [
    'a CIDR range for an attribute of another name',
    when({ proxy: { cidr: 10 } }),
    'levels.0.when.proxy.cidr',
    'proxy must be an address or CIDR range',
  ],

  [
    'overrides that are no list',
    level({ overrides: { when: {}, limit } }),
    'levels.0.overrides',
    'overrides must be a list',
  ],
  [
    'an override that is not an object',
    level({ overrides: [null] }),
    'levels.0.overrides.0',
    'an override must be an object with when, limit',
  ],
  [
    'an override without a when',
    level({ overrides: [{ limit }] }),
    'levels.0.overrides.0.when',
    'when must be an object',
  ],
  [
    'an override without a limit',
    level({ overrides: [{ when: { a: 1 } }] }),
    'levels.0.overrides.0.limit',
    'limit must be an object such as',
  ],
  [
    'an override with null for a limit',
    level({ overrides: [{ when: { a: 1 }, limit: null }] }),
    'levels.0.overrides.0.limit',
    'got null',
  ],
  [
    'an override with a key',
    level({ overrides: [{ when: {}, limit, key: 'a' }] }),
    'levels.0.overrides.0.key',
    "an override has no 'key'",
  ],
  [
    'a condition of an override',
    level({
      overrides: [
        { when: {}, limit },
        { when: { method: 'FETCH' }, limit },
      ],
    }),
    'levels.0.overrides.1.when.method',
    'there is no method',
  ],
  [
    'a limit of an override',
    level({ overrides: [{ when: {}, limit: { ...token, capacity: -1 } }] }),
    'levels.0.overrides.0.limit.capacity',
    'got -1',
  ],

  [
    'a cost below 0',
    level({ cost: -1 }),
    'levels.0.cost',
    'cost must be a whole number from 0, or the name of an attribute, got -1',
  ],
  ['half a cost', level({ cost: 0.5 }), 'levels.0.cost', 'got 0.5'],
  ['a cost without a name', level({ cost: '' }), 'levels.0.cost', 'an attribute must be a name'],
  ['null for a cost', level({ cost: null }), 'levels.0.cost', 'got null'],
  ['a shadow as text', level({ shadow: 'yes' }), 'levels.0.shadow', "shadow must be true or false, got 'yes'"],
  [
    'a failure of another kind',
    level({ onFailure: 'allow' }),
    'levels.0.onFailure',
    "onFailure must be 'open', 'closed' or 'local', got 'allow'",
  ],
]

describe('the error of a policy says where the mistake is and what would be right', () => {
  it.each(TABLE)('%s', (_, policy, path, message) => {
    const problems = found(policy)
    expect(problems.map(([at]) => at)).toEqual([path])
    expect(problems[0][1]).toMatch(
      typeof message === 'string' ? new RegExp(message.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')) : message,
    )
    expect(problems[0][1].length).toBeLessThan(400)
    const { levels, attributes } = readPolicy(policy)
    expect([...levels, ...attributes]).toEqual([])
  })
})

test('all mistakes are reported at once, in the order of the policy', () => {
  const policy = {
    version: 3,
    colour: 'red',
    levels: [
      {
        name: 'a b',
        when: { method: 'FETCH', plan: [] },
        key: ['', 5],
        limit: { algorithm: 'token-bucket', capacity: -1, refill: '5' },
        cost: -1,
      },
      { name: 'ok', limit },
      {
        nam: 'c',
        limit: [{ algorithm: 'fixed-window' }, {}],
        overrides: [{}, { when: 5, limit: 5 }],
        shadow: 1,
        onFailure: 1,
      },
      7,
    ],
  }
  expect(found(policy).map(([path]) => path)).toEqual([
    'colour',
    'version',
    'levels.0.name',
    'levels.0.when.method',
    'levels.0.when.plan',
    'levels.0.key.0',
    'levels.0.key.1',
    'levels.0.limit.capacity',
    'levels.0.limit.refill',
    'levels.0.cost',
    'levels.2.nam',
    'levels.2.name',
    'levels.2.limit.0.quota',
    'levels.2.limit.0.window',
    'levels.2.limit.1',
    'levels.2.overrides.0.when',
    'levels.2.overrides.0.limit',
    'levels.2.overrides.1.when',
    'levels.2.overrides.1.limit',
    'levels.2.shadow',
    'levels.2.onFailure',
    'levels.3',
  ])
  let thrown: unknown
  try {
    createPolicy(policy as never)
  } catch (error) {
    thrown = error
  }
  // An unknown option of the call is reported before the problems of the policy.
  expect(String(thrown)).toContain("createPolicy has no option 'colour'")
  const { colour: _, ...rest } = policy
  expect(() => createPolicy(rest as never)).toThrow(InvalidPolicyError)
  expect(() => createPolicy(rest as never)).toThrow(
    /^the policy has 21 problems:\n {2}version: .*\n {2}levels\[0\]\.name: /,
  )
})
