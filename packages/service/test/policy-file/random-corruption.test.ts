import fc from 'fast-check'
import { createPolicy } from 'sluice'
import { PolicyFileError, parsePolicyFile } from 'sluice-service'
import { expect, test } from 'vitest'
import { GOOD_YAML } from './example-files.js'

const PIECES = [
  ...'[]{}:,-?&*!|>\'"%@`#~ \t\n\r\0\u2028',
  ...[
    '- ',
    ': ',
    '? ',
    '&a ',
    '*a',
    '!!str ',
    '---\n',
    '...\n',
    '<<: *a',
    '.nan',
    '.inf',
    '0x1F',
    '007',
    'null',
    '\ufeff',
    '\\',
    '\ud800',
  ],
  ...['version', 'levels', 'limit', 'when', 'token-bucket', '__proto__', '5/s', '    ', '\n\n', '%YAML 1.1\n'],
]

interface Change {
  readonly at: number
  readonly removed: number
  readonly put: string
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.nat({ max: 12 }),
  put: fc.oneof(fc.constantFrom(...PIECES, ''), fc.string({ unit: 'binary', maxLength: 4 })),
})

function changed(text: string, { at, removed, put }: Change): string {
  const place = Math.floor(at * text.length)
  return text.slice(0, place) + put + text.slice(place + removed)
}

const yaml = Object.values(GOOD_YAML)
const json = yaml.map((text) => JSON.stringify(parsePolicyFile(text).policy, null, 2))

test.each([
  ['YAML', yaml, 'policy.yaml'],
  ['JSON', json, 'policy.json'],
  ['JSON read as YAML', json, 'policy.yaml'],
])('%s with random changes is a policy, or has problems at positions of the text', (_, texts, file) => {
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 4 }), (good, changes) => {
      const text = changes.reduce(changed, good)
      try {
        // The library must accept what the loader accepts.
        createPolicy(parsePolicyFile(text, { file }).policy)
      } catch (error) {
        if (!(error instanceof PolicyFileError)) throw error
        expect(error.problems.length).toBeGreaterThan(0)
        const lines = text.replace(/^\ufeff/, '').split('\n')
        for (const { line, column, message } of error.problems) {
          expect(line).toBeGreaterThan(0)
          expect(line).toBeLessThanOrEqual(lines.length)
          expect(column).toBeGreaterThan(0)
          expect(column).toBeLessThanOrEqual(lines[line - 1].length + 1)
          expect(message).not.toContain('\n')
        }
      }
    }),
    { numRuns: 1_000 },
  )
})
