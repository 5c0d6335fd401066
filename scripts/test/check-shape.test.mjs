import { describe, expect, test } from 'vitest'
import { findShapeProblems, summaryOf } from '../check-shape.mjs'

const lines = (count, text = '') => `${text}\n${'// filler\n'.repeat(count - 1)}`
const sound = {
  'packages/sluice/src/index.ts': "export * from './limits/token-bucket.js'\n",
  'packages/sluice/src/limits/token-bucket.ts': lines(21, 'export function tokenBucket() {}'),
  'packages/sluice/src/stores/redis/lua/token-bucket.lua': lines(21),
  'packages/service/src/index.ts': 'export const b = 1\n',
  'README.md': 'A caller waits for the store.\n',
}

function found(changes, options) {
  const files = new Map(Object.entries({ ...sound, ...changes }))
  return findShapeProblems(files, options).map(({ file, line, message }) => `${file}:${line} ${message}`)
}

test('a sound tree has nothing to report', () => {
  expect(found({})).toEqual([])
})

describe('the main export', () => {
  test.each([
    'export class KeyHash {}',
    'export abstract class KeyHash {}',
    'export const keyHash = 1',
    'export async function keyHash() {}',
    'export type KeyHash = string',
    'export interface KeyHash {}',
    'const keyHash = 1\nexport { other, keyHash }',
    "export type { Hash as KeyHash } from './hash.js'",
    'export const KEYHASH = 1',
  ])('may be %s', (source) => {
    expect(found({ 'packages/sluice/src/key-hash.ts': lines(30, source) })).toEqual([])
  })

  test('is missing where no export has the name of the file', () => {
    expect(
      found({ 'packages/sluice/src/key-hash.ts': lines(30, 'export const hashOf = 1\nexport let a = 2') }),
    ).toEqual(['packages/sluice/src/key-hash.ts:1 exports hashOf, a, but no keyHash'])
  })

  test('is missing where only a comment exports it', () => {
    expect(found({ 'packages/sluice/src/key-hash.ts': lines(30, '// export const keyHash = 1') })).toEqual([
      'packages/sluice/src/key-hash.ts:1 exports nothing, but no keyHash',
    ])
  })

  test('of an entry point has any name', () => {
    const file = 'packages/sluice/src/http/express.ts'
    const changes = { [file]: 'export const rateLimit = 1\n' }
    expect(found(changes)).toHaveLength(2)
    expect(found(changes, { entries: new Set([file]) })).toEqual([])
  })
})

test('two files of one name are reported, over all packages, but not a Lua file and its TypeScript twin', () => {
  expect(
    found({
      'packages/sluice/src/policy/call.ts': lines(30, 'export const call = 1'),
      'packages/service/src/cli/call.ts': lines(30, 'export const call = 1'),
    }),
  ).toEqual(['packages/service/src/cli/call.ts:1 has the name of packages/sluice/src/policy/call.ts'])
})

test('a crumb is reported', () => {
  expect(found({ 'packages/sluice/src/warn.ts': lines(20, 'export const warn = 1') })).toEqual([
    'packages/sluice/src/warn.ts:1 has 20 lines; a file has more than 20',
  ])
})

describe('length', () => {
  test('of a file is at most 320 lines, unless a script wrote it', () => {
    const file = 'packages/sluice/src/script.ts'
    const text = (count) => lines(count, 'export const script = 1')
    expect(found({ [file]: text(320) })).toEqual([])
    expect(found({ [file]: text(321) })).toEqual([`${file}:1 has 321 lines; a file has at most 320`])
    expect(found({ [file]: text(321) }, { generated: new Set([file]) })).toEqual([])
  })

  test('of a function is at most 60 lines', () => {
    const file = 'packages/sluice/src/long.ts'
    const text = (count) => `\nexport function long() {\n${'  a()\n'.repeat(count - 2)}}\n`
    expect(found({ [file]: text(60) })).toEqual([])
    expect(found({ [file]: text(61) })).toEqual([`${file}:2 long has 61 lines; a function has at most 60`])
  })

  test('of a Lua function is at most 60 lines', () => {
    const file = 'packages/sluice/src/stores/redis/lua/long.lua'
    expect(found({ [file]: `local function long()\n${'  a()\n'.repeat(59)}end\n` })).toEqual([
      `${file}:1 long has 61 lines; a function has at most 60`,
    ])
  })
})

test.each(['utils.ts', 'http/helpers.ts', 'string-utils.ts', 'common/limit.ts', 'misc.ts'])('%s is vague', (name) => {
  const main = name.replace(/.*\/|\.ts|-/g, '')
  expect(found({ [`packages/sluice/src/${name}`]: lines(30, `export const ${main} = 1`) })).toEqual([
    expect.stringMatching(/'(?:utils|helpers|common|misc)' does not say what is inside/),
  ])
})

describe('words that hide the actor', () => {
  test.each([
    ['a comment', 'scripts/a.mjs', '// Nobody waits.', 'Nobody'],
    ['the name of a test', 'packages/sluice/test/a.test.ts', "test('whoever asks is told', f)", 'whoever'],
    ['a document', 'docs/a.md', 'the caller to whom it belongs', 'whom'],
    ['a name', 'bench/a.mjs', 'const isSomebody = nobodyWaits', 'Somebody'],
  ])('are reported in %s', (_, file, text, word) => {
    expect(found({ [file]: `\n${text}` })).toContainEqual(`${file}:2 says '${word}': ${text}`)
  })

  test('are not parts of other words', () => {
    expect(found({ 'docs/a.md': 'noBody, NoBody, somebodys' })).toEqual([])
  })
})

test('a summary counts by rule and folder, the largest first', () => {
  const at = (file, rule) => ({ file, rule, line: 1, message: '' })
  const problems = [
    at('docs/decisions/a.md', 'word'),
    at('packages/sluice/src/http/adapters/koa.ts', 'word'),
    at('packages/sluice/src/http/gate.ts', 'word'),
    at('packages/sluice/src/http/gate.ts', 'crumb'),
  ]
  expect(summaryOf(problems)).toEqual([
    ['word', 'total', 3],
    ['word', 'packages/sluice/src/http', 2],
    ['word', 'docs', 1],
    ['crumb', 'total', 1],
    ['crumb', 'packages/sluice/src/http', 1],
  ])
})
