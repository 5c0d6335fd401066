import { expect, test } from 'vitest'
import { attributeValues, costProblem, questionOf, readAskedRequest } from '../../src/inspect/asked-request.js'
import { readAddress, writeAddress } from '../../src/shell/page-address.js'

test('attributes of any name and text survive the address', () => {
  const attributes = { merchant: 'acct_1', 'a.b': '<img src=x>', 'x&y=z': 'a#b?c &%', level: 'gold', cost: '3' }
  const hash = writeAddress('inspect', { ...attributeValues(attributes), cost: '2', level: 'charges' })
  const asked = readAskedRequest(readAddress(hash).values)
  expect(asked.attributes).toEqual(attributes)
  expect(asked).toMatchObject({ cost: '2', level: 'charges', recent: undefined, follows: true })
})

test('an attribute that is gone leaves the address', () => {
  const values = { ...attributeValues({ old: '1' }), ...attributeValues({ fresh: '2' }, { old: '1' }) }
  expect(writeAddress('inspect', values)).toBe('#inspect?a.fresh=2')
})

test('an attribute without a value is absent from the question', () => {
  const asked = readAskedRequest({
    'a.merchant': '',
    'a.ip': '192.0.2.7',
    'a.': 'no name',
    merchant: 'not an attribute',
  })
  expect(questionOf(asked)).toEqual({ attributes: { ip: '192.0.2.7' } })
})

test('the question about a recent request has no attributes', () => {
  const asked = readAskedRequest({ recent: 'r7', 'a.merchant': 'acct_1', cost: '5' })
  expect(questionOf(asked)).toEqual({ recent: 'r7', cost: 5 })
})

test.each([
  ['', true],
  ['0', true],
  ['12', true],
  ['9007199254740991', true],
  ['9007199254740993', false],
  ['-1', false],
  ['1.5', false],
  ['1e3', false],
  ['two', false],
])('the cost %j can be asked about: %s', (cost, isRight) => {
  expect(costProblem(cost) === undefined).toBe(isRight)
})
