/** A thread's questions to the first thread, and what becomes of errors on the way. */
import { createPolicy, InvalidValueError, StoreFullError, StoreUnavailableError, tokenBucket } from 'sluice'
import { sharedStore } from 'sluice/shared'
import { expect, test } from 'vitest'
import { FirstLink } from '../../../src/serve/threads/first-link.js'
import { errorFrom, toldError } from '../../../src/serve/threads/question.js'
import { openThreadStore } from '../../../src/serve/threads/thread-store.js'
import type { FromThread } from '../../../src/serve/to-worker.js'
import { problemOf } from '../../../src/server/problem.js'

const FIND = { find: 'r1', in: 'reservations' } as const

test('a question without an answer fails in time, and an answer that comes later is dropped', async () => {
  const sent: FromThread[] = []
  const link = new FirstLink((message) => sent.push(message), 1)
  await expect(link.ask(FIND)).rejects.toThrow(StoreUnavailableError)
  expect(sent).toEqual([{ asked: 1, question: FIND }])
  link.hear({ answered: 1, value: 'late' })
  const second = link.ask(FIND)
  link.hear({ answered: 2, value: 'in time' })
  expect(await second).toBe('in time')
})

test('a reservation that the first thread does not answer is a 503, and takes nothing in this thread', async () => {
  const table = sharedStore({ maxKeys: 100 })
  const { store } = openThreadStore(table.handle, new FirstLink(() => {}, 1))
  const levels = [{ name: 'all', limit: tokenBucket({ capacity: 5, refill: '1/d' }) }]
  const policy = createPolicy({ name: 'p', levels, store })
  const error = await Promise.resolve(policy.reserve({}, { ttl: '1m' })).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StoreUnavailableError)
  expect(problemOf(error)).toMatchObject({ status: 503, fields: { 'Retry-After': '1' } })
  expect((await policy.peek({})).levels[0].decision.remaining).toBe(5)
})

test('an error keeps its kind and its option through a message', () => {
  const through = (error: Error) => errorFrom(structuredClone(toldError(error)))
  expect(through(new StoreFullError('full'))).toEqual(new StoreFullError('full'))
  const invalid = through(new InvalidValueError('wrong', { option: 'until' }))
  expect(invalid).toBeInstanceOf(InvalidValueError)
  expect(invalid).toMatchObject({ message: 'wrong', option: 'until' })
  expect(through(new TypeError('x is not a function')).message).toBe('the first thread failed: x is not a function')
  expect(problemOf(through(new TypeError('x'))).status).toBe(500)
})

test('an override that ended on its way to a thread is not in force there', () => {
  const table = sharedStore({ maxKeys: 100 })
  const link = new FirstLink(() => {})
  const { store } = openThreadStore(table.handle, link)
  const override = { policy: 'p', level: 'all', key: 'k', limits: [tokenBucket({ capacity: 9, refill: '1/d' })] }
  link.hear({ facts: [{ override: { ...override, untilMs: undefined } }] })
  expect(store.overrides?.('p').get('all', 'k')).toMatchObject([{ capacity: 9 }])
  link.hear({ facts: [{ override: { ...override, untilMs: 1 } }] })
  expect(store.overrides?.('p').get('all', 'k')).toBeUndefined()
})
