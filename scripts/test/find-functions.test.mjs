import { describe, expect, test } from 'vitest'
import { findFunctions } from '../find-functions.mjs'

const text = (...lines) => lines.join('\n')
const spans = (source, language = 'ts') =>
  findFunctions(source, language).map(({ name, line, lines }) => `${name} ${line}+${lines}`)

describe('in TypeScript', () => {
  test.each([
    ['a function', ['', 'export function a(b: number) {', '  return b', '}'], ['a 2+3']],
    ['a generator', ['function* a() {', '}'], ['a 1+2']],
    ['a function without a name', ['on(function () {', '})'], ['a function 1+2']],
    ['type parameters with arrows', ['function a<', '  T extends () => void,', '>(b: T) {', '}'], ['a 1+4']],
    ['a return type with braces', ['function a(): { b: number } {', '}'], ['a 1+2']],
    ['a return type in brackets', ['function a(): Promise<{ b: { c: 1 } }> {', '}'], ['a 1+2']],
    ['a return type over lines', ['function a():', '  | B', '  | { c: 1 } {', '}'], ['a 1+4']],
    ['a type guard', ['function a(b): b is { c: 1 } {', '}'], ['a 1+2']],
    ['a method', ['class A {', '  async b() {', '  }', '}'], ['b 2+2']],
    ['a private method', ['class A {', '  #b(c = { d: 1 }) {', '  }', '}'], ['#b 2+2']],
    ['an accessor', ['class A {', '  static get b(): number {', '  }', '}'], ['b 2+2']],
    ['a method with a symbol', ['class A {', '  [Symbol.dispose](): void {', '  }', '}'], ['[Symbol.dispose] 2+2']],
    ['an arrow function', ['const a = (b) => {', '  c()', '}'], ['a 1+3']],
    ['parameters over lines', ['function a(', '  b: number,', '): void {', '}'], ['a 1+4']],
  ])('finds %s', (_, lines, found) => {
    expect(spans(text(...lines))).toEqual(found)
  })

  test.each([
    ['a statement', ['if (a) {', '}', 'for (const b of c) {', '}', 'while (d()) {', '}', 'switch (e) {', '}']],
    ['a call', ['a()', 'b(', '  c,', ')', '{', '}']],
    ['a method of an interface', ['interface A {', '  b(): void', '  c(d: E): { f: 1 }', '}']],
    ['a comment or a string', ['// function a() {', "const b = 'function c() {'"]],
    ['an arrow that returns a value', ['const a = (b) => b + 1']],
  ])('passes over %s', (_, lines) => {
    expect(spans(text(...lines))).toEqual([])
  })

  test('finds the functions inside a function, too', () => {
    expect(spans(text('function a() {', '  function b() {', '  }', '}'))).toEqual(['a 1+4', 'b 2+2'])
  })
})

describe('in Lua', () => {
  test('matches `end` with the function it closes', () => {
    const source = text(
      'local function a()',
      '  if b then c() end',
      '  for i = 1, 2 do d() end',
      '  repeat e() until f',
      '  return function()',
      '  end',
      'end',
      'g = 1',
    )
    expect(spans(source, 'lua')).toEqual(['a 1+7', 'a function 5+2'])
  })

  test('passes over comments and strings', () => {
    const source = text('function a()', "  -- end of it, isn't it", "  b('end') --[[ end", 'end ]]', 'end')
    expect(spans(source, 'lua')).toEqual(['a 1+5'])
  })
})
