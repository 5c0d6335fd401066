import { expect, test } from 'vitest'
import { levelLines } from '../../src/inspect/level-lines.js'

const lines = (text: string) => text.split('\n')

const YAML = lines(`version: 1
name: charges
levels:
  # The whole API.
  - name: global
    limit: { algorithm: token-bucket, capacity: 10, refill: 1/s }

  # Each merchant.
  # Two have more.
  - key: [merchant]
    name: merchant
    limit:
      - { algorithm: token-bucket, capacity: 10, refill: 1/s }
      # A day.
      - { algorithm: fixed-window, quota: 9, window: 1d }

  - { name: charges, when: { path: /v1/charges }, limit: { algorithm: unlimited } }
`)

test.each([
  ['global', 4, 6],
  ['merchant', 8, 15],
  ['charges', 17, 17],
])('finds the level %s with the comment above it', (level, first, last) => {
  expect(levelLines(YAML, level)).toEqual({ first, last })
})

test('the name of the policy is not the name of a level', () => {
  expect(levelLines(lines('name: charges\nlevels:\n  - name: other\n    limit: x'), 'charges')).toBeUndefined()
})

test('finds a level in JSON', () => {
  const text = JSON.stringify(
    {
      version: 1,
      levels: [
        { name: 'a', limit: 1 },
        { name: 'b', limit: 2 },
      ],
    },
    undefined,
    2,
  )
  const range = levelLines(lines(text), 'b')
  expect(lines(text).slice((range?.first ?? 0) - 1, range?.last)).toEqual([
    '    {',
    '      "name": "b",',
    '      "limit": 2',
    '    }',
  ])
})

test('finds a level whose items are not indented', () => {
  expect(levelLines(lines('levels:\n- name: a\n  limit: 1\n- name: b\n  limit: 2'), 'a')).toEqual({ first: 2, last: 3 })
})
