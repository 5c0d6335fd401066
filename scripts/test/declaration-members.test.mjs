import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { basesOf, declarationTexts, ownMembers, splitList } from '../declaration-members.mjs'
import { membersOf } from '../members-of.mjs'

const module = `import type { Hidden } from './hidden.js';
/** Two overloads. */
export declare function one(a: string): void;
export declare function one(a: { b: number; }): void;
/** An object. */
export type Four<A extends string = string> = Hidden<A> & {
    readonly five: number;
};
/** Has \`/**\`, which is no comment. */
export declare class Three<A extends object> extends Error implements Two<A> {
    #private;
    private own;
    readonly name = "Three";
    /** How many there are. More. */
    get size(): number;
    constructor(a: A);
}
interface Methods<Later extends boolean> {
    /**
     * Asks.
     */
    ask(key: string): Given<Later, number>;
    readonly left: undefined;
    readonly never?: undefined;
    readonly more?: {
        readonly deep: string;
    };
}
export interface Asker extends Methods<true> {
}
`
const folder = mkdtempSync(join(tmpdir(), 'sluice-members-'))
const file = join(folder, 'module.d.ts')
writeFileSync(file, module)
writeFileSync(join(folder, 'hidden.d.ts'), 'export interface Hidden<A> {\n    /** Six. */\n    readonly six: A;\n}\n')
afterAll(() => rmSync(folder, { recursive: true }))

describe('declarationTexts', () => {
  test('has every overload, without comments and keywords', () => {
    expect(declarationTexts(module, 'one')).toEqual([
      'function one(a: string): void',
      'function one(a: { b: number; }): void',
    ])
    expect(declarationTexts(module, 'Four')).toEqual([
      'type Four<A extends string = string> = Hidden<A> & {\n    readonly five: number;\n}',
    ])
  })
})

describe('basesOf', () => {
  test('has the types that are extended, and not those of type parameters', () => {
    expect(basesOf(module, 'Three')).toEqual(['Error'])
    expect(basesOf(module, 'Asker')).toEqual(['Methods<true>'])
    expect(basesOf(module, 'Methods')).toEqual([])
  })
})

describe('splitList', () => {
  test('divides at the top level only', () => {
    expect(splitList("A<B, C>, (d: E, f: G) => H, 'i'")).toEqual(['A<B, C>', '(d: E, f: G) => H', "'i'"])
  })
})

describe('ownMembers', () => {
  test('has public members on one line, each with its first sentence', () => {
    expect(ownMembers(module, 'Three')).toEqual([
      { name: 'name', text: "name: 'Three'", summary: undefined },
      { name: 'size', text: 'get size(): number', summary: 'How many there are.' },
      { name: 'constructor', text: 'constructor(a: A)', summary: undefined },
    ])
  })

  test('leaves out what must be left out', () => {
    expect(ownMembers(module, 'Methods').map(({ text }) => text)).toEqual([
      'ask(key: string): Given<Later, number>',
      'left: undefined',
      'more?: { deep: string; }',
    ])
  })
})

describe('membersOf', () => {
  const textsOf = (name, isPublic) => {
    const { members, bases } = membersOf(file, name, isPublic)
    return [members.map(({ text }) => text), bases]
  }

  test('has those of a base that has no place of its own', () => {
    const members = ['ask(key: string): Promise<number>', 'left: undefined', 'more?: { deep: string; }']
    expect(textsOf('Asker', () => false)).toEqual([members, []])
    expect(textsOf('Asker', (_file, name) => name === 'Methods')).toEqual([[], ['Methods<true>']])
  })

  test('has those of hidden parts of a type, also from another file', () => {
    expect(textsOf('Four', () => false)).toEqual([['six: A'], []])
  })
})
