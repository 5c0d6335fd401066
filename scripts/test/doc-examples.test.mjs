import { describe, expect, test } from 'vitest'
import { examplesInMarkdown, examplesInSource } from '../doc-examples.mjs'

const text = (...lines) => lines.join('\n')

describe('examplesInMarkdown', () => {
  test('gives the code of ts blocks and the line where it starts', () => {
    const markdown = text('# Title', '', '```ts', 'const a = 1', 'a', '```', '', '```typescript', 'b', '```')
    expect(examplesInMarkdown(markdown)).toEqual([
      { line: 4, flags: [], code: 'const a = 1\na' },
      { line: 9, flags: [], code: 'b' },
    ])
  })

  test('passes over blocks of other languages', () => {
    expect(examplesInMarkdown(text('```', '~~~ts', '```', '```json', '{}', '```', '```tsx', 'a', '```'))).toEqual([])
  })

  test('passes over a ts block that is quoted in a longer fence', () => {
    expect(examplesInMarkdown(text('````md', '```ts', 'a', '```', '````'))).toEqual([])
  })

  test('reads the flags', () => {
    const markdown = text('```ts no-check', 'a', '```', '```ts run alone', 'b', '```')
    expect(examplesInMarkdown(markdown).map(({ flags }) => flags)).toEqual([['no-check'], ['run', 'alone']])
  })

  test('takes the indentation of a list item off', () => {
    expect(examplesInMarkdown(text('- item', '  ```ts', '  a(', '    b)', '', '  ```'))).toEqual([
      { line: 3, flags: [], code: 'a(\n  b)\n' },
    ])
  })

  test('refuses a flag it does not know, so that a typing error does not pass for a check', () => {
    expect(() => examplesInMarkdown(text('a', '```ts nocheck', 'b', '```'))).toThrow("line 2: 'nocheck' is not one of")
  })

  test('refuses a block without an end', () => {
    expect(() => examplesInMarkdown(text('```ts', 'a'))).toThrow('line 1: this block has no end')
  })
})

describe('examplesInSource', () => {
  test('finds blocks in doc comments, with the line in the source', () => {
    const source = text(
      '/** One. */',
      'export const a = 1',
      '  /**',
      '   * Two.',
      '   * @example',
      '   * ```ts',
      "   * import { a } from 'sluice'",
      '   *',
      '   *   a',
      '   * ```',
      '   */',
      'export const b = 2',
    )
    expect(examplesInSource(source)).toEqual([{ line: 7, flags: [], code: "import { a } from 'sluice'\n\n  a" }])
  })

  test('passes over code and plain comments', () => {
    expect(examplesInSource(text('/*', '```ts', 'a', '```', '*/', 'const b = `', '```ts', '`'))).toEqual([])
  })
})
