import { describe, expect, test } from 'vitest'
import { findDeclaration, moduleSummary, readExports } from '../declarations.mjs'

const text = (...lines) => lines.join('\n')

describe('readExports', () => {
  test('gives declarations, names taken from other files, and files that are exported whole', () => {
    const module = text(
      "export * from './all.js';",
      "export { a, type B, c as d } from './some.js';",
      "export type { E } from './types.js';",
      'declare const f: number;',
      'export { f as g };',
      'export declare function h(): void;',
      'export interface I {',
      '    readonly j: number;',
      '}',
      '/** export declare const k: number */',
    )
    const { names, all } = readExports(module)
    expect(all).toEqual(['./all.js'])
    expect(names.map(({ exported, local, source }) => [exported, local, source])).toEqual([
      ['h', 'h', undefined],
      ['I', 'I', undefined],
      ['a', 'a', './some.js'],
      ['B', 'B', './some.js'],
      ['d', 'c', './some.js'],
      ['E', 'E', './types.js'],
      ['g', 'f', undefined],
    ])
  })
})

describe('findDeclaration', () => {
  const module = text(
    '/** One thing. Another thing. */',
    'export declare function one(): void;',
    '/**',
    ' * Two of {@link Three} and `@Four`,',
    ' * on two lines.',
    ' *',
    ' * @example',
    ' */',
    'export declare const two: number;',
    'export interface Three {',
    '}',
  )

  test('gives the kind and the first sentence', () => {
    expect(findDeclaration(module, 'one')).toEqual({ kind: 'function', summary: 'One thing.' })
    expect(findDeclaration(module, 'two')).toEqual({
      kind: 'const',
      summary: 'Two of `Three` and `@Four`, on two lines.',
    })
  })

  test('an export without a comment has no summary, and an unknown name no declaration', () => {
    expect(findDeclaration(module, 'Three')).toEqual({ kind: 'interface', summary: undefined })
    expect(findDeclaration(module, 'thr')).toBeUndefined()
  })

  test('of overloads, the one with a comment counts', () => {
    const overloads = text(
      'export declare function a(): 1;',
      '/** The second. */',
      'export declare function a(b: 1): 2;',
    )
    expect(findDeclaration(overloads, 'a')).toEqual({ kind: 'function', summary: 'The second.' })
  })
})

test('moduleSummary leaves the name of the module out', () => {
  expect(moduleSummary('/** `sluice/redis`: the same limits. */\nexport {}')).toBe('The same limits.')
  expect(moduleSummary('export {}')).toBeUndefined()
})
