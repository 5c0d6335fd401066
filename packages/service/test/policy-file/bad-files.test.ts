import { PolicyFileError, parsePolicyFile } from 'sluice-service'
import { expect, test } from 'vitest'
import { small } from './example-files.js'

/** A file, and for each of its problems the position and a part of the message. */
type Bad = readonly [what: string, text: string, ...problems: (readonly [at: string, said: string])[]]

const LIMIT = 'limit: { algorithm: token-bucket, capacity: 20, refill: 5/s }'

const BAD: readonly Bad[] = [
  ['nothing', '', ['1:1', 'the file is empty']],
  ['comments alone', '# nothing\n\n', ['1:1', 'the file is empty']],
  ['a list', '- a\n', ['1:1', 'a list is not a policy']],
  ['a text', 'hello\n', ['1:1', 'a single value is not a policy']],
  ['null', 'null\n', ['1:1', 'not a policy']],
  ['no version', `levels:\n  - { name: a, ${LIMIT} }\n`, ['1:1', 'write version: 1']],
  ['another version', `version: 2\nlevels:\n  - { name: a, ${LIMIT} }\n`, ['1:10', 'version must be 1, got 2']],
  ['no levels', 'version: 1\n', ['1:1', 'levels must be a list, but it is missing']],
  ['empty levels', 'version: 1\nlevels: []\n', ['2:9', 'at least one level']],
  [
    'unknown keys everywhere',
    `version: 1
levls: []
levels:
  - name: a
    kee: [x]
    limit: { algorithm: token-bucket, capacity: 20, refill: 5/s, burst: 3 }
    overrides:
      - whn: {}
        when: { a: { nt: 3 } }
        limit: { algorithm: tokn-bucket }
`,
    ['2:1', "did you mean 'levels'?"],
    ['5:5', "did you mean 'key'?"],
    ['6:66', "no option 'burst'"],
    ['8:9', "did you mean 'when'?"],
    ['9:22', "did you mean 'not'?"],
    ['10:16', "'token-bucket' needs capacity"],
    ['10:16', "'token-bucket' needs refill"],
    ['10:29', "'tokn-bucket' is unknown; did you mean 'token-bucket'?"],
  ],
  [
    'wrong types',
    `version: 1
ipv6Prefix: wide
levels:
  - name: [a]
    when: POST
    key: { a: b }
    limit: 5
    cost: -1
    shadow: yes
    onFailure: opn
    overrides: { when: 3 }
  - 7
`,
    ['2:13', 'ipv6Prefix must be a whole number'],
    ['4:11', 'name must be text'],
    ['5:11', 'when must be an object'],
    ['6:10', 'an attribute must be a name'],
    ['7:12', 'limit'],
    ['8:11', 'cost must be a whole number'],
    ['9:13', "shadow must be true or false, got 'yes'"],
    ['10:16', "onFailure must be 'open', 'closed' or 'local'"],
    ['11:16', 'overrides must be a list'],
    ['12:5', 'a level must be an object'],
  ],
  [
    'missing parts',
    'version: 1\nlevels:\n  - name: a\n    limit: { algorithm: token-bucket }\n  - key: [b]\n',
    ['4:12', 'needs capacity'],
    ['4:12', 'needs refill'],
    ['5:5', 'name must be text'],
    ['5:5', 'limit'],
  ],
  [
    'names used twice',
    `version: 1\nlevels:\n  - { name: a, ${LIMIT} }\n  - { name: b, ${LIMIT} }\n  - { name: a, ${LIMIT} }\n`,
    ['5:13', "level 1 is called 'a' too"],
  ],
  [
    'keys written twice',
    `version: 1\nversion: 1\nlevels:\n  - name: a\n    ${LIMIT}\n    "name": b\n`,
    ['2:1', "'version' is here a second time: the first is in line 1"],
    ['6:5', "'name' is here a second time: the first is in line 4"],
  ],
  [
    'options of other libraries',
    small('{ algorithm: fixed-window, max: 3, windowMs: 60000 }', '    keyGenerator: user\n    windowMs: 60000\n'),
    ['4:12', "'fixed-window' needs quota"],
    ['4:12', "'fixed-window' needs window"],
    ['4:39', "max is `quota` here, as in { quota: 100, window: '1m' }"],
    ['4:47', "windowMs is `window` here, as in { quota: 100, window: '1m' }"],
    ['5:5', "keyGenerator is `key` here, as in { key: ['user'] }"],
    ['6:5', "as in { limit: { algorithm: 'fixed-window', quota: 100, window: '1m' } }"],
  ],
  [
    'durations without a unit, and too many decimals',
    small('{ algorithm: fixed-window, quota: 3, window: 60 }', '    blockFor: { first: 60, most: 3600 }\n') +
      '  - { name: b, limit: { algorithm: token-bucket, capacity: 3, refill: 0.3333333333/s }, blockFor: 900 }\n',
    ['4:57', "got 60: a bare number has no unit, write '60s' for seconds or '60ms' for milliseconds"],
    ['5:15', "blockFor.first must be a duration such as '250ms', '1s', '1m', '1h' or '30d', got 60: a bare number"],
    ['6:71', "at most nine decimals, got '0.3333333333/s': write '1/3s'"],
    ['6:99', "write '900s' for seconds or '900ms' for milliseconds"],
  ],
  ['.nan', small('{ algorithm: token-bucket, capacity: .nan, refill: 5/s }'), ['4:49', 'got NaN']],
  ['.inf', small('{ algorithm: fixed-window, quota: 3, window: .inf }'), ['4:57', 'got Infinity']],
  ['-.inf as a value', small(undefined, '    when: { a: -.inf }\n'), ['5:16', 'got -Infinity']],
  [
    'numbers that lose their text',
    small(
      undefined,
      `    when: { a: 007, b: 0x1F, c: [1e3, 42, 1.0], d: { not: 12345678901234567890 }, e: TRUE, f: 0.5 }\n`,
    ),
    ['5:16', "write it in quotes: '007'"],
    ['5:24', "write it in quotes: '0x1F'"],
    ['5:34', "write it in quotes: '1e3'"],
    ['5:43', "write it in quotes: '1.0'"],
    ['5:59', "write it in quotes: '12345678901234567890'"],
    ['5:86', "write it in quotes: 'TRUE'"],
  ],
  [
    'the same in an override, a name and a key',
    `version: 1\nname: 1.10\nlevels:\n  - name: 404\n    key: [12]\n    ${LIMIT}\n    overrides:\n      - { when: { m: +5 }, ${LIMIT} }\n`,
    ['2:7', "write it in quotes: '1.10'"],
    ['4:11', "write it in quotes: '404'"],
    ['5:11', "write it in quotes: '12'"],
    ['8:22', "write it in quotes: '+5'"],
  ],
  ['a value that was forgotten', small(undefined, '    when:\n      merchant:\n'), ['6:16', 'for absence, write null']],
  ['an unknown method', small(undefined, '    when: { method: POTS }\n'), ['5:21', "did you mean 'POST'?"]],
  ['a second document', `${small()}---\n${small()}`, ['5:1', 'a second document begins here']],
  ['a second, empty document', `${small()}---\n`, ['5:1', 'a second document begins here']],
  ['a second document after an end', `${small()}...\nx: y\n`, ['6:1', 'a second document begins here']],
  ['a tag of a function', "version: 1\nlevels: !!js/function 'x'\n", ['2:9', 'tags such as !!js/function']],
  [
    'tags',
    'version: !!int 1\nname: !!binary aGk=\nlevels: !x []\n',
    ['1:10', '!!int'],
    ['2:7', '!!binary'],
    ['3:9', '!x'],
  ],
  ['a directive', `%YAML 1.1\n---\n${small()}`, ['1:1', 'the directive %YAML 1.1 is not supported']],
  [
    'a merge key',
    `version: 1\nlevels:\n  - &a { name: a, ${LIMIT} }\n  - <<: *a\n    name: b\n    ${LIMIT}\n`,
    ['4:5', 'merge keys (<<) are not supported'],
  ],
  ['an alias of nothing', small('*none'), ['4:12', 'there is no &none above']],
  ['an alias of itself', 'version: 1\nlevels: &a [*a]\n', ['2:13', '*a is inside its own target']],
  ['a key that is a list', `? [a, b]\n: c\n${small()}`, ['1:3', 'a key must be text']],
  ['a key that is missing', `: c\n${small()}`, ['1:1', "a key is missing before ':'"]],
  ['a tab', 'version: 1\nlevels:\n\t- name: a\n', ['3:1', 'a tab indents this']],
  ['one value too many', 'version: 1: 2\n', ['1:10', 'one value too many in the line']],
  ['no value', 'version: 1\nlevels\n', ['2:1', "': ' and a value are missing after this key"]],
  ['an open quote', 'version: 1\nname: "a\n', ['3:1', 'missing closing']],
  [
    'an attribute without a name',
    small(undefined, "    when: { '': 3 }\n"),
    ['5:13', 'an attribute must be a name of 1 to 128 characters'],
  ],
  ['an escape for the terminal', 'version: 1\n"\\e[31m": 3\nlevels: []\n', ['2:1', '\\u001b[31m'], ['3:9', 'at least']],
]

test.each(BAD.map(([what, text, ...expected]) => [what, text, expected] as const))(
  'a file with %s is refused, with every problem and its position',
  (_, text, expected) => {
    for (const written of [text, `\ufeff${text}`, text.replaceAll('\n', '\r\n')]) {
      const { problems } = errorOf(written)
      expect(problems.map(({ line, column }) => `${line}:${column}`)).toEqual(expected.map(([at]) => at))
      for (const [i, [, said]] of expected.entries()) expect(problems[i].message).toContain(said)
    }
  },
)

const BAD_JSON: readonly (readonly [what: string, text: string, at: string, said: string])[] = [
  ['nothing', '', '1:1', 'the file is empty'],
  ['a comment', '{\n  // hi\n  "version": 1\n}', '2:3', 'JSON has no comments'],
  ['a comment after it', '{ "version": 1 }\n# hi', '2:1', 'JSON has no comments'],
  ['a comma too many', '{ "version": 1, }', '1:15', "JSON has no comma before '}'"],
  ['single quotes', "{ 'version': 1 }", '1:3', 'in double quotes'],
  ['no quotes', '{ version: 1 }', '1:3', '"version"'],
  ['YAML', 'version: 1\n', '1:1', 'expected a value'],
  ['no end', '{ "version": 1', '1:15', 'the file ends here'],
  ['two policies', '{ "version": 1 }\n{}', '2:1', 'expected the end'],
  ['a number of YAML', '{ "version": 01 }', '1:14', "found '01'"],
  ['NaN', '{ "version": NaN }', '1:14', "found 'NaN'"],
  ['a line break in a text', '{ "version": "a\nb" }', '1:16', 'line break'],
  ['an escape of YAML', '{ "version": "\\x41" }', '1:14', 'escape'],
  ['an open quote', '{ "version": "a }', '1:14', 'no closing quote'],
  ['a second key', '{ "version": 1,\n  "version": 1, "levels": [] }', '2:3', 'the first is in line 1'],
  ['deep lists', `{ "version": ${'['.repeat(5_000)}`, '1:77', 'more than 64 deep'],
]

test.each(BAD_JSON)('a JSON file with %s is refused with its position', (_, text, at, said) => {
  const [{ line, column, message }] = errorOf(text, 'policy.json').problems
  expect(`${line}:${column}`).toBe(at)
  expect(message).toContain(said)
})

test.each([
  ['unlimited', "write { algorithm: 'unlimited' }"],
  ['none', "write { algorithm: 'unlimited' }"],
  ['0', "to deny everything, write { algorithm: 'fixed-window', quota: 0, window: '1m' }"],
  ['5', "a number does not say per what, write { algorithm: 'fixed-window', quota: 5, window: '1m' }"],
  ['5/s', "such as { algorithm: 'token-bucket', capacity: 20, refill: '5/s' }, got '5/s'"],
  ['', "such as { algorithm: 'token-bucket', capacity: 20, refill: '5/s' }, got null"],
  ['[5]', "write { algorithm: 'fixed-window', quota: 5, window: '1m' }"],
  ['{ algorithm: fixed-window, max: 5, window: 1m }', "'fixed-window' has no option 'max'; max is `quota` here"],
  ['{ algorithm: unlimited, quota: 5 }', "'unlimited' has no option 'quota'"],
])('limit: %s is answered with the limit to write in a file, and never with a call of code', (limit, said) => {
  for (const text of [
    `version: 1\nlevels:\n  - name: a\n    limit: ${limit}\n`,
    'version: 1\nlevels:\n  - name: a\n    key: [k]\n    limit: { algorithm: unlimited }\n    overrides:\n' +
      `      - when: { k: x }\n        limit: ${limit}\n`,
  ]) {
    const { message } = errorOf(text)
    expect(message).toContain(said)
    expect(message).not.toMatch(/\w\(\{/)
  }
})

test('a limit that an error advises to write is accepted', () => {
  for (const limit of ["{ algorithm: 'unlimited' }", "{ algorithm: 'fixed-window', quota: 0, window: '1m' }"])
    expect(() => parsePolicyFile(`version: 1\nlevels:\n  - name: a\n    limit: ${limit}\n`)).not.toThrow()
})

test('the message has one line for each problem, up to a hundred', () => {
  const one = errorOf('version: 1\nlevels: []\n', 'deploy/policy.yaml')
  expect(one.message).toBe('deploy/policy.yaml:2:9 levels must have at least one level')
  expect(one).toMatchObject({ name: 'PolicyFileError', code: 'SLUICE_INVALID_POLICY_FILE', file: 'deploy/policy.yaml' })
  const many = errorOf(`version: 1\nlevels:\n${'  - 5\n'.repeat(250)}`)
  expect(many.problems).toHaveLength(250)
  const lines = many.message.split('\n')
  expect(lines).toHaveLength(101)
  expect(lines[100]).toBe('policy has 150 more problems')
})

test('an argument that is not a text is a TypeError', () => {
  expect(() => parsePolicyFile(undefined as never)).toThrow('text must be the text of a file, got undefined')
})

function errorOf(text: string, file?: string): PolicyFileError {
  try {
    parsePolicyFile(text, file === undefined ? {} : { file })
  } catch (error) {
    if (error instanceof PolicyFileError) return error
    throw error
  }
  throw new Error('the file was accepted')
}
