import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadPolicyFile, PolicyFileError, parsePolicyFile } from 'sluice-service'
import { expect, test } from 'vitest'
import { isLong } from '../../../sluice/test/property/arbitraries.js'

/** Generous: without the bounds, reading takes minutes or hours, or ends the process. */
const LONGEST_MS = 10_000
const MB = 1_000_000
/** Large enough that an algorithm slower than linear would not finish. */
const MANY = isLong ? 100_000 : 25_000

const letters = 'abcdefghi'
const laughs = letters
  .split('')
  .map((name, i) => `${name}: &${name} [${Array(9).fill(i === 0 ? 'lol' : `*${letters[i - 1]}`)}]\n`)
  .join('')

const HOSTILE: Readonly<Record<string, () => string>> = {
  'a billion laughs': () => laughs,
  'aliases of a long list': () => `version: 1\nlevels:\n  - &a [${'x,'.repeat(20_000)}]\n${'  - *a\n'.repeat(2_000)}`,
  'aliases in a chain': () =>
    `a0: &a0 []\n${Array.from({ length: 500 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}]\n`).join('')}`,
  'open lists': () => '['.repeat(5 * MANY),
  'open maps': () => '{'.repeat(5 * MANY),
  'closed lists': () => '['.repeat(4 * MANY) + ']'.repeat(4 * MANY),
  'lists of lists': () => '- '.repeat(4 * MANY),
  'keys of keys': () => '? '.repeat(4 * MANY),
  'ever deeper lines': () => Array.from({ length: 3_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
  'a map of many keys': () => Array.from({ length: 300_000 }, (_, i) => `k${i}: 1\n`).join(''),
  'a long list in one line': () => `[${'a,'.repeat(4 * MANY)}]`,
  'short lists in lists': () => `version: 1\nlevels: ${'[{ a: '.repeat(3_000)}b${' }]'.repeat(3_000)}`,
  'closing brackets': () => ']'.repeat(2 * MANY),
  'line breaks': () => '\n'.repeat(9 * MANY),
  comments: () => '#\n'.repeat(4 * MANY),
  directives: () => '%a\n'.repeat(3 * MANY),
  documents: () => '---\n'.repeat(2 * MANY),
  tags: () => '!a '.repeat(3 * MANY),
  anchors: () => '&a '.repeat(3 * MANY),
  quotes: () => `"'`.repeat(4 * MANY),
  backslashes: () => `a: "${'\\'.repeat(8 * MANY)}`,
  colons: () => ': '.repeat(4 * MANY),
  'one long number': () => `version: ${'9'.repeat(9 * MANY)}`,
  'one long name': () => `version: 1\n${'a'.repeat(9 * MANY)}: 1`,
  'a long list': () => `version: 1\nlevels:\n${'- a\n'.repeat(2 * MANY)}`,
  'a long list of mistakes': () => `version: 1\nlevels:\n${'- a: b: c\n'.repeat(MANY - 1)}`,
  'tabs and spaces': () => `a:\n${' \t'.repeat(4 * MANY)}b`,
}

test.each(Object.entries(HOSTILE))('%s is refused in bounded time', { timeout: 60_000 }, (_, text) => {
  const written = text()
  // CPU time, so that other load on the machine does not count.
  const start = process.cpuUsage()
  expect(() => parsePolicyFile(written)).toThrow(PolicyFileError)
  expect(() => parsePolicyFile(written, { file: 'a.json' })).toThrow(PolicyFileError)
  expect(process.cpuUsage(start).user / 1_000).toBeLessThan(LONGEST_MS)
})

test('a hundred thousand overrides load, from JSON and from lines of YAML', { timeout: 120_000 }, () => {
  const names = Array.from({ length: 100_000 }, (_, i) => `acct_${i}`)
  const limit = { algorithm: 'token-bucket', capacity: 20, refill: '5/s' }
  const overrides = names.map((m) => ({ when: { m }, limit }))
  const json = JSON.stringify({ version: 1, levels: [{ name: 'a', key: 'm', limit, overrides }] })
  expect(json.length).toBeLessThan(10 * MB)
  expect(parsePolicyFile(json, { file: 'a.json' }).policy.levels[0].overrides).toEqual(overrides)
  const head =
    'version: 1\nlevels:\n- name: a\n  key: m\n  limit: &limit { algorithm: token-bucket, capacity: 20, refill: 5/s }\n'
  const yaml = `${head}  overrides:\n${names.map((name) => `  - { when: { m: ${name} }, limit: *limit }\n`).join('')}`
  expect(parsePolicyFile(yaml).policy.levels[0].overrides).toEqual(overrides)
})

test('a file of 10 MB is refused before it is read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-large-'))
  const path = join(folder, 'policy.yaml')
  try {
    const file = await open(path, 'w')
    // A sparse file of a thousand gigabytes: reading it would never finish.
    await file.truncate(1e12)
    await expect(loadPolicyFile(path)).rejects.toThrow(
      `${path}:1:1 the file is too large: a policy must be smaller than 10 MB`,
    )
    await file.truncate(10 * MB)
    await expect(loadPolicyFile(path)).rejects.toThrow('too large')
    await file.truncate(10 * MB - 1)
    await expect(loadPolicyFile(path)).rejects.not.toThrow('too large')
    await file.close()
    await expect(loadPolicyFile('/dev/zero')).rejects.toThrow('too large')
  } finally {
    await rm(folder, { recursive: true })
  }
  expect(() => parsePolicyFile(' '.repeat(10 * MB))).toThrow('too large')
})
