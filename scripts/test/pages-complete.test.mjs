import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')
const exportsOf = (folder) => JSON.parse(read(`packages/${folder}/package.json`)).exports
const modulesOf = (folder, name) =>
  Object.entries(exportsOf(folder))
    .filter(([, target]) => target.types !== undefined)
    .map(([entry]) => entry.replace('.', name))

test('docs/modules.md has every entry point, and no other', () => {
  const [, table] = /\| entry point.*?\n((?:\|.*\n)+)/.exec(read('docs/modules.md'))
  const named = table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name))
  const entries = named.map((name) => (name.startsWith('/') ? `sluice${name}` : name))
  const expected = [...modulesOf('sluice', 'sluice'), ...modulesOf('service', 'sluice-service')]
  expect(entries.sort()).toEqual(expected.sort())
})

test('docs/README.md links every page of docs', () => {
  const pages = readdirSync(new URL('docs', root), { recursive: true }).filter(
    (name) => name.endsWith('.md') && name !== 'README.md' && !name.startsWith('decisions'),
  )
  const links = [...read('docs/README.md').matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link)
  expect(pages.length).toBeGreaterThan(30)
  expect(pages.filter((page) => !links.includes(page))).toEqual([])
})
