import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const cellsOf = (line) => line.split('|').slice(1, -1)
const rowsOf = (markdown) =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map(cellsOf)
const trimmed = (rows) => rows.map((cells) => cells.map((cell) => cell.trim()))

const comparison = read('docs/comparison.md')
const [, section] = read('README.md').split('## Is it for you?')
const [head, , ...rows] = trimmed(rowsOf(section.split('## Status')[0]))
const peers = head.slice(1).map((name) => name.replace('<br>', ''))
/** Peers that are installed here. The others are named with the version that was looked at. */
const installed = ['express-rate-limit', 'rate-limiter-flexible', '@fastify/rate-limit', 'bottleneck', 'p-queue']
const manifestOf = (name) => JSON.parse(read(`node_modules/${name}/package.json`))

test('the comparison is about the versions that the tests use: look at each cell again when one changes', () => {
  for (const name of installed) expect(comparison).toContain(`${name} ${manifestOf(name).version}`)
})

test('the table and its reasons have the same date', () => {
  const dates = [section, comparison].map((text) => /Checked on (\d{4}-\d{2}-\d{2})/.exec(text)?.[1])
  expect(dates[0]).toBe(dates[1])
  expect(Date.parse(dates[0])).toBeLessThanOrEqual(Date.now())
})

test('the numbers of dependencies are those of the packages', () => {
  const counts = rows.find(([title]) => title === 'runtime dependencies')
  for (const name of installed)
    expect(counts[peers.indexOf(name) + 1]).toBe(`${Object.keys(manifestOf(name).dependencies ?? {}).length}`)
  expect(counts[1]).toBe('0')
  expect(JSON.parse(read('packages/sluice/package.json')).dependencies).toBeUndefined()
})

test('every cell has one of the marks that the README explains', () => {
  expect(peers).toHaveLength(8)
  for (const [title, ...cells] of rows.slice(0, -1))
    for (const cell of cells) expect(['✓', 'partly', '–', '·'], title).toContain(cell)
})

test('every "partly" has its reason', () => {
  const reasons = trimmed(rowsOf(comparison))
  for (const [title, ...cells] of rows) {
    const [, reason] = reasons.find(([name]) => title.includes(name)) ?? []
    for (const [i, cell] of cells.entries())
      if (cell === 'partly') expect(reason, title).toContain(peers[i].replace('@upstash/ratelimit', 'Upstash'))
  }
})
