// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are source code
import { expect, test } from 'vitest'
import { maskSource } from '../mask-source.mjs'

const wordsLeft = (source) => maskSource(source).match(/[a-z]+/g) ?? []

test.each([
  ['a line comment', 'a // b\nc', ['a', 'c']],
  ['a block comment', 'a /* b\n * c */ d', ['a', 'd']],
  ['a string with an escaped quote', `a('b\\'c', "d'e")`, ['a']],
  ['a comment mark in a string', `a('// b') + c`, ['a', 'c']],
  ['a quote in a comment', `// it's\na`, ['a']],
  ['the text of a template', 'a(`b $c \\` d`) + e', ['a', 'e']],
  ['a template inside a template', 'a(`b ${c({ d: `e ${f} g` })} h`) + i', ['a', 'c', 'd', 'f', 'i']],
  ['a regular expression with a quote', `a(/b'[/]c/g) + d('e')`, ['a', 'd']],
  ['a regular expression after a keyword', 'return /b`/', ['return']],
])('blanks %s', (_, source, left) => {
  expect(wordsLeft(source)).toEqual(left)
})

test('a division is not a regular expression', () => {
  expect(wordsLeft('a / b + (c) / d[e] / f')).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

test('keeps the length and the line breaks', () => {
  const source = "a /* b\n c */ 'd' `e\n${f}` // g\n/h/"
  const masked = maskSource(source)
  expect(masked).toHaveLength(source.length)
  expect([...masked.matchAll(/\n/g)].map(({ index }) => index)).toEqual(
    [...source.matchAll(/\n/g)].map(({ index }) => index),
  )
})

test.each(["'", '`', '/*', '`${', '`${`'])('ends on the unfinished text %s', (source) => {
  expect(maskSource(source)).toHaveLength(source.length)
})
