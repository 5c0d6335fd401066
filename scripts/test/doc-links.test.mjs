import { expect, test } from 'vitest'
import { brokenLinks, rewriteLinks } from '../doc-links.mjs'

const files = {
  'README.md': '# Title',
  'docs/a.md': ['# Run, wrap, wait', '## `explain(request)` of [b](b.md)', '## Twice', '## Twice', '## Größe_1'].join(
    '\n',
  ),
  docs: '',
}
const broken = (...lines) => brokenLinks('docs/b.md', lines.join('\n'), (path) => files[path]).map(({ link }) => link)

test('a link to a file or folder that exists is right, relative to the document', () => {
  expect(broken('[a](a.md) and [root](../README.md "title")', '[docs](../docs)', '[a]: a.md')).toEqual([])
})

test('a link to a file that does not exist is broken, and its line is told', () => {
  expect(brokenLinks('docs/b.md', '# Title\n\n![c](c.png), [a](../a.md)', (path) => files[path])).toEqual([
    { line: 3, link: 'c.png' },
    { line: 3, link: '../a.md' },
  ])
  expect(broken('[c]: c.md')).toEqual(['c.md'])
})

test('a fragment must be a heading of its document, as GitHub writes it', () => {
  const right = ['run-wrap-wait', 'explainrequest-of-b', 'twice', 'twice-1', 'größe_1']
  expect(broken(...right.map((heading) => `[a](a.md#${heading})`))).toEqual([])
  expect(broken('[a](a.md#twice-2)', '[a](a.md#Twice)')).toEqual(['a.md#twice-2', 'a.md#Twice'])
})

test('a fragment alone is a heading of the same document', () => {
  expect(broken('## Here', '[here](#here)', '[there](#there)')).toEqual(['#there'])
})

test('web addresses and code are not looked at', () => {
  expect(
    broken('[w](https://example.com/x#y)', '`[a](b)`', '```md', '[a](b)', '# c', '```', '[m](mailto:a@b)'),
  ).toEqual([])
  expect(broken('```md', '# c', '```', '[c](#c)')).toEqual(['#c'])
})

test('relative links are rewritten or become text, and addresses and code stay', () => {
  const to = new Map([
    ['a.md', 'docs/a.md'],
    ['a.md#b', 'https://x.example'],
  ])
  const lines = (...given) => given.join('\n')
  const before = lines(
    '[one](a.md) and [two](a.md#b), [`three`](c.md).',
    '```',
    '[four](a.md)',
    '```',
    '[x](https://y)',
  )
  const after = lines(
    '[one](docs/a.md) and [two](https://x.example), `three`.',
    '```',
    '[four](a.md)',
    '```',
    '[x](https://y)',
  )
  expect(rewriteLinks(before, (link) => to.get(link))).toBe(after)
})
