// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are source code
import { describe, expect, test } from 'vitest'
import { findBrokenImports } from '../check-imports.mjs'

const sound = {
  'errors.ts': 'export class SluiceError extends Error {}',
  'limits/rate.ts': "import { SluiceError } from '../errors.js'\nexport const rate = () => new SluiceError()",
  'limits/index.ts': "export * from './rate.js'",
  'clock.ts': "import { performance } from 'node:perf_hooks'\nexport const clock = performance",
  'stores/memory.ts': "import { clock } from '../clock.js'\nimport type { rate } from '../limits/index.js'",
  'limiter/limiter.ts': "import {\n  memory,\n} from '../stores/memory.js'",
  'http/headers.ts': "import { limiter } from '../limiter/limiter.js'",
  'testing/index.ts': "import { headers } from '../http/headers.js'\nexport * from './manual-clock.js'",
  'testing/manual-clock.ts': "import type { clock } from '../clock.js'",
  'index.ts': "export * from './http/headers.js'\nexport * from './limits/index.js'",
}

function broken(changes) {
  const files = new Map(Object.entries({ ...sound, ...changes }))
  return findBrokenImports(files).map(({ file, line, message }) => `${file}:${line} ${message}`)
}

test('a sound tree has nothing to report', () => {
  expect(broken({})).toEqual([])
})

describe('reports', () => {
  test.each([
    ['limits/rate.ts', "import '../clock.js'", 'limits comes before clock'],
    ['clock.ts', "\nimport '../src/stores/memory.js'", 'src has no such file'],
    ['clock.ts', "import type { a } from './stores/memory.js'", 'clock comes before stores'],
    ['stores/memory.ts', "export { a } from '../limiter/limiter.js'", 'stores comes before limiter'],
    ['stores/memory.ts', "const a = await import('../http/headers.js')", 'stores comes before http'],
    ['stores/memory.ts', "let a: import('../http/headers.js').A", 'stores comes before http'],
    ['http/headers.ts', "import '../testing/manual-clock.js'", 'only testing imports testing'],
    ['index.ts', "export * from './testing/index.js'", 'only testing imports testing'],
    ['testing/index.ts', "import '../index.js'", 'no file of src imports the root index'],
    ['http/headers.ts', "import 'sluice'", 'no file of src imports the root index'],
    ['errors.ts', "import 'node:util'", 'errors.ts imports nothing'],
    ['limits/rate.ts', "import 'node:util'", 'limits must run without Node'],
    ['stores/memory.ts', "import 'fs/promises'", "a Node module is written 'node:fs/promises'"],
    ['stores/memory.ts', "import { gone } from './gone.js'", 'src has no such file'],
    ['utils.ts', '', 'belongs to no layer'],
    ['utils/text.ts', '', 'belongs to no layer'],
  ])('%s with %s', (file, source, message) => {
    expect(broken({ [file]: source })).toContainEqual(expect.stringContaining(message))
  })

  test.each([
    'Date.now()',
    'performance.now()',
    'globalThis.setTimeout(f)',
    'setInterval(f)',
    'setImmediate(f)',
    'queueMicrotask(f)',
    'let a: Promise<void>',
    'async () => 1',
    'await f()',
    'Math.random()',
    'Math\n.random()',
    'process.env',
    'Buffer.alloc(1)',
    '`${new Date()}`',
  ])('%s in limits', (source) => {
    expect(broken({ 'limits/rate.ts': `\n${source}` })).toEqual([
      expect.stringMatching(/^limits\/rate\.ts:2 mentions .*, but limits are pure arithmetic$/),
    ])
  })

  test('a cycle, at the import that closes it', () => {
    const changes = {
      'limits/rate.ts': "// first\nimport { b } from './b.js'",
      'limits/b.ts': "import { c } from './c.js'",
      'limits/c.ts': "\n\nimport type { rate } from './rate.js'",
    }
    expect(broken(changes)).toEqual([
      'limits/c.ts:3 closes an import cycle: limits/rate.ts -> limits/b.ts -> limits/c.ts -> limits/rate.ts',
    ])
  })

  test('a module that imports itself', () => {
    expect(broken({ 'limits/rate.ts': "import './rate.js'" })).toHaveLength(1)
  })

  test('every violation, in the order of files and lines', () => {
    const changes = { 'limits/rate.ts': "import '../clock.js'\nDate\nDate", 'errors.ts': "import './clock.js'" }
    expect(broken(changes).map((text) => text.split(' ')[0])).toEqual([
      'errors.ts:1',
      'limits/rate.ts:1',
      'limits/rate.ts:2',
      'limits/rate.ts:3',
    ])
  })
})

test('comments, strings and longer names are not mentions', () => {
  const source =
    "// Date\n/* await */ const a = 'process' + `Buffer` + /Promise/.source\nconst updatedDates = asyncs + $Date"
  expect(broken({ 'limits/rate.ts': source })).toEqual([])
})

test('an import inside a comment or a string is not an import', () => {
  expect(broken({ 'limits/rate.ts': `// import '../clock.js'\nconst a = "from '../clock.js'"` })).toEqual([])
})
