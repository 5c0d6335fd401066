import { expect, test } from 'vitest'
import { isOverrideOf, keyText, overrideKey } from '../../src/inspect/override-key.js'

const attributes = { merchant: 'acct_1', region: 'eu' }

test.each([
  [{ name: 'a', key: 'merchant' }, 'acct_1'],
  [{ name: 'a', key: ['merchant'] }, 'acct_1'],
  [{ name: 'a', key: ['merchant', 'region'] }, ['acct_1', 'eu']],
  [{ name: 'a' }, []],
  [{ name: 'a', key: ['merchant', 'ip'] }, undefined],
])('the key of %j is as overrides take it', (level, key) => {
  expect(overrideKey(level, attributes)).toEqual(key)
})

test('an override is found by its level and key', () => {
  const listed = { level: 'exports', key: ['acct_1', 'eu'] }
  expect(isOverrideOf(listed, 'exports', ['acct_1', 'eu'])).toBe(true)
  expect(isOverrideOf(listed, 'exports', ['acct_1', 'us'])).toBe(false)
  expect(isOverrideOf(listed, 'merchant', ['acct_1', 'eu'])).toBe(false)
  expect(isOverrideOf(listed, 'exports', undefined)).toBe(false)
})

test('a key is one line for a person', () => {
  expect(keyText(['acct_1', 'eu'])).toBe('acct_1 · eu')
  expect(keyText([])).toBe('all requests')
  expect(keyText(42)).toBe('42')
})
