import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { yamlPieces } from '../../src/inspect/yaml-pieces.js'

const kinds = (line: string) => yamlPieces(line).map(({ kind, text }) => [kind, text])

test('keys, numbers, texts, marks and comments have colours of their own', () => {
  expect(kinds('  - name: global # all of it')).toEqual([
    ['plain', '  '],
    ['mark', '-'],
    ['plain', ' '],
    ['key', 'name'],
    ['mark', ':'],
    ['plain', ' global '],
    ['comment', '# all of it'],
  ])
  expect(kinds('{ "capacity": 100, "refill": "100/s" }')).toEqual([
    ['mark', '{'],
    ['plain', ' '],
    ['key', '"capacity"'],
    ['mark', ':'],
    ['plain', ' '],
    ['number', '100'],
    ['mark', ','],
    ['plain', ' '],
    ['key', '"refill"'],
    ['mark', ':'],
    ['plain', ' '],
    ['text', '"100/s"'],
    ['plain', ' '],
    ['mark', '}'],
  ])
})

test.each(['refill: 100/s', 'window: 1m', 'path: /v1/charges', 'a#b', 'ip: 10.0.0.0/8', 'at: 12:30:00'])(
  'a word with a number or a mark in it is one word: %s',
  (line) => {
    expect(yamlPieces(line).some(({ kind }) => kind === 'number' || kind === 'comment')).toBe(false)
  },
)

test('the pieces of a line are the line', () => {
  const lines = readFileSync(new URL('../../../service/examples/stripe.yaml', import.meta.url), 'utf8').split('\n')
  const odd = ['', '   ', '"never closed', "'it''s'", '- - x', ': : :', '<b>&amp;</b>', '\t#', 'é: "\\u0000"', '}{][,,']
  for (const line of [...lines, ...odd]) {
    const joined = yamlPieces(line).map(({ text }) => text)
    expect(joined.join('')).toBe(line)
  }
})

test('a long line is not taken apart', () => {
  const line = '"a": '.repeat(10_000)
  expect(yamlPieces(line)).toEqual([{ kind: 'plain', text: line }])
})
