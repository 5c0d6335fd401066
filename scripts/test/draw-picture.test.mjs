import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { drawPicture } from '../draw-picture.mjs'

test('the picture of the README shows what the library decides', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  expect(readme).toContain(`\`\`\`\n${await drawPicture()}\n\`\`\``)
})

test('the picture shows what it is there for', async () => {
  const [times, sent, bucket, fixed, sliding, shaper] = (await drawPicture()).split('\n')
  const count = (row, mark) => row.split(mark).length - 1
  const requests = count(sent, '|')
  for (const row of [bucket, fixed, sliding]) expect(count(row, '●') + count(row, '○')).toBe(requests)
  expect(count(shaper, '▶')).toBe(requests)
  // A fixed window admits more than its quota around a boundary, a sliding log never does.
  const most = (row) =>
    Math.max(...[...row].map((_, i) => count(row.slice(times.indexOf('0 s')).slice(i, i + 20), '●')))
  expect(most(fixed)).toBeGreaterThan(6)
  expect(most(sliding)).toBe(6)
})
