import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const sectionOf = (text, heading) => text.split(`\n## ${heading}`)[1].split('\n## ')[0]
const rowsOf = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('**', '')))
    .map((cells) => cells.slice(1, -1))

const page = sectionOf(read('docs/http.md'), 'How fast')
const results = sectionOf(read('bench/RESULTS.md'), 'HTTP: requests a second with and without a limit')
const frameworks = ['Express', 'Fastify', 'Hono']
/** `88 % (78 % to 101 %)` is `88 %`, and `0.3 (-1.3 to 1.0)` is `0.3`. */
const median = (cell) => cell.replace(/ \(.*/, '')

/** The figures of a table of the page, as `{ Sluice: ['88 %', '86 %', '68 %'] }`. */
function figuresOf(title) {
  const rows = rowsOf(page)
  const start = rows.findIndex(([first]) => first === title)
  const end = rows.findIndex((cells, at) => at > start && cells[1] === frameworks[0])
  expect(rows[start].slice(1)).toEqual(frameworks)
  return Object.fromEntries(rows.slice(start + 2, end < 0 ? undefined : end).map(([name, ...cells]) => [name, cells]))
}

/** The rows of RESULTS.md below each framework, as `{ express: { sluice: '88 %', … } }`. */
function sharesOfResults() {
  const shares = {}
  let current
  for (const [name, , share] of rowsOf(results)) {
    if (frameworks.some((each) => each.toLowerCase() === name)) current = shares[name] ??= {}
    else if (current !== undefined && name.startsWith('with ')) current[name.slice('with '.length)] = median(share)
  }
  return shares
}

test('the shares in docs/http.md are those of bench/RESULTS.md, peers included', () => {
  const shares = sharesOfResults()
  const ofPage = figuresOf('limiter')
  for (const [at, framework] of frameworks.entries()) {
    const figures = Object.entries(ofPage)
      .filter(([, cells]) => cells[at] !== '')
      .map(([name, cells]) => [name.toLowerCase(), cells[at]])
    expect(Object.fromEntries(figures), framework).toEqual(shares[framework.toLowerCase()])
  }
})

test('what counting costs in docs/http.md is what bench/RESULTS.md says', () => {
  const counting = rowsOf(results.split('What it costs to count')[1])
  const { 'points of CPU time': points, 'requests a second': left } = figuresOf('counting')
  for (const [at, framework] of frameworks.entries()) {
    const row = counting.find(([name]) => name === framework.toLowerCase())
    expect([left[at], points[at]], framework).toEqual([median(row[1]), median(row[3])])
  }
})

test('the page, docs/speed.md and bench/RESULTS.md are of one run', () => {
  const run = /`(npm run bench -- http-speed)`[,]? (?:on )?(\d{4}-\d{2}-\d{2})/
  expect(run.exec(page)?.slice(1)).toEqual(run.exec(results)?.slice(1))
  const { sluice } = Object.fromEntries(
    Object.entries(figuresOf('limiter')).map(([name, cells]) => [name.toLowerCase(), cells]),
  )
  const speed = read('docs/speed.md').replaceAll('\n', ' ')
  expect(speed).toContain(
    `Express keeps ${sluice[0]} of its requests a second, Fastify ${sluice[1]} and Hono ${sluice[2]}`,
  )
})
