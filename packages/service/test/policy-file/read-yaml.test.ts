import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { buildData } from '../../src/policy-file/build-data.js'
import { readYaml } from '../../src/policy-file/read-yaml.js'
import type { SourceNode } from '../../src/policy-file/source-node.js'
import { TextLines } from '../../src/policy-file/text-lines.js'

const WORDS = [
  ...['a', 'token-bucket', '5/s', '0.08/s', '10/250ms', '/v1/:id', '1m', '1.5s', '30d', '20', '0', '42', 'two words'],
  ...[
    'true',
    'False',
    'NULL',
    'nullable',
    '~',
    '007',
    '0x1F',
    '0o17',
    '1e3',
    '1d5',
    '1.0',
    '-3',
    '.5',
    '.inf',
    '.NaN',
    '5m3',
    '1/2',
  ],
  ...["'quoted'", '"with \\u0041"', "'it''s'", '10.0.0.0/8', '2001:db8::/32', 'a:b', 'a#b', '*x', 'é', '_', 'e5'],
]

const space = fc.constantFrom('', ' ', '  ', '\n      ')

const { flow } = fc.letrec<{ flow: string; list: string; map: string }>((tie) => ({
  flow: fc.oneof({ depthSize: 'small' }, fc.constantFrom(...WORDS), tie('list'), tie('map')),
  list: fc
    .tuple(fc.array(tie('flow'), { maxLength: 4 }), space, fc.boolean())
    .map(([items, gap, more]) => `[${gap}${items.join(`,${gap}`)}${more && items.length > 0 ? ',' : ''}${gap}]`),
  map: fc
    .tuple(fc.array(fc.tuple(fc.nat(99), tie('flow')), { maxLength: 4 }), space)
    .map(([entries, gap]) => `{${gap}${entries.map(([key, value], i) => `k${i}_${key}: ${value}`).join(`,${gap}`)} }`),
}))

function placesOf(node: SourceNode): readonly SourceNode[] {
  if (node.kind === 'list') return [node, ...node.items.flatMap(placesOf)]
  if (node.kind === 'map') return [node, ...node.entries.flatMap(({ key, value }) => [key, ...placesOf(value)])]
  return [node]
}

test('lists and maps in brackets are read as the parser reads them, with the right offsets', () => {
  fc.assert(
    fc.property(flow, flow, (one, other) => {
      const text = `x: &x word\na: ${one}\nb:\n  - ${other} # end\n  - &y [${one}]\n  - *y\n`
      const { node, faults } = readYaml(text)
      expect(faults).toEqual([])
      if (node === undefined) throw new Error('nothing was read')
      expect(buildData(node, new TextLines(text)).data).toEqual(parse(text))
      for (const { kind, offset, ...rest } of placesOf(node)) {
        if (kind === 'scalar' && 'plain' in rest && rest.plain) expect(text.startsWith(rest.plain, offset)).toBe(true)
        if (kind === 'alias') expect(text[offset]).toBe('*')
      }
    }),
    { numRuns: 2_000 },
  )
})

test.each([200, 20_000, 60_000])('a list of %i words is the same in brackets and on separate lines', (count) => {
  const words = Array.from({ length: count }, (_, i) => WORDS[i % 13])
  const text = `users: [${words.join(', ')}]\nafter: 1\n`
  const { node, faults } = readYaml(text)
  expect(faults).toEqual([])
  const lines = words.map((word) => `  - ${word}\n`).join('')
  expect(node && buildData(node, new TextLines(text)).data).toEqual(parse(`users:\n${lines}after: 1\n`))
})
