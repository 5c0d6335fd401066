import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const FOLDER = fileURLToPath(new URL('../../service/dist/page/', import.meta.url))

test('all files of the page are under 150 KB in gzip, and there are no more than three', () => {
  const files = readdirSync(FOLDER)
  expect(files).toHaveLength(3)
  const sizes = files.map((file) => gzipSync(readFileSync(FOLDER + file)).length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000)
})
