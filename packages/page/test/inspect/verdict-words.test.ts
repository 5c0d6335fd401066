import { createPolicy, type PolicyData } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import type { InspectAnswer } from '../../../service/src/live/inspect-answer.js'
import { verdictWords } from '../../src/inspect/verdict-words.js'
import { timeText } from '../../src/parts/time-text.js'

const bucket = { algorithm: 'token-bucket', capacity: 5, refill: '1/s' } as const

/** The words after `checks` requests, as the page has them from JSON. */
function wordsAfter(
  levels: PolicyData['levels'],
  checks: number,
  cost = 1,
  denyAll: readonly string[] = [],
  decided?: InspectAnswer['decided'],
) {
  const policy = createPolicy({ levels, clock: new ManualClock(Date.UTC(2026, 0, 1)) })
  const request = { merchant: 'acct_1' }
  for (let i = 0; i < checks; i++) policy.check(request)
  const { allowed, deniedBy } = policy.peek(request, { cost })
  const explained = policy.explain(request, { cost })
  const answer = {
    allowed,
    deniedBy,
    attributes: request,
    cost,
    levels: explained,
    unused: [],
    isMasked: false,
    decided,
  }
  const sent: InspectAnswer = JSON.parse(JSON.stringify({ ...answer, atMs: 0, policy: 'p' }))
  return verdictWords(sent, new Set(denyAll))
}

test('an allowed request says what it takes from where', () => {
  const levels = [
    { name: 'global', limit: bucket },
    { name: 'merchant', key: 'merchant', limit: bucket },
  ]
  expect(wordsAfter(levels, 0)).toEqual({
    title: 'Allowed',
    outcome: 'admitted',
    sentences: ['A request like this would pass now, and take 1 from each of global and merchant.'],
  })
  expect(wordsAfter(levels, 0, 0).sentences).toEqual(['A request like this would pass now, and take nothing.'])
})

test('a recent request says what was decided when it came, and then what would be decided now', () => {
  const levels = [
    { name: 'global', limit: bucket },
    { name: 'merchant', key: 'merchant', limit: bucket },
  ]
  const atMs = new Date(2026, 0, 1, 2, 15, 26).getTime()
  const wordsOf = (checks: number, decided: Partial<InspectAnswer['decided']>) =>
    wordsAfter(levels, checks, 1, [], { atMs, allowed: true, deniedBy: [], degraded: false, ...decided })
  expect(wordsOf(0, { allowed: false, deniedBy: ['merchant'] })).toEqual({
    title: `Denied by merchant at ${timeText(atMs)}`,
    outcome: 'denied',
    sentences: ['Now it would pass, and take 1 from each of global and merchant.'],
  })
  expect(wordsOf(5, { degraded: true })).toEqual({
    title: `Allowed at ${timeText(atMs)}`,
    outcome: 'admitted',
    sentences: [
      'It was decided without the store.',
      'Now it would be denied by global and merchant.',
      'global would have to give 1, and nothing is left.',
      'merchant would have to give 1, and nothing is left.',
    ],
  })
  expect(wordsOf(0, { allowed: false }).title).toBe(`Failed, because the store did, at ${timeText(atMs)}`)
})

test('a denied request says which levels deny it and why', () => {
  const levels = [
    { name: 'global', limit: { ...bucket, capacity: 100 } },
    { name: 'merchant', key: 'merchant', limit: bucket },
  ]
  expect(wordsAfter(levels, 4, 2)).toMatchObject({
    title: 'Denied by merchant',
    sentences: ['merchant would have to give 2, and 1 of 5 are left.'],
  })
  expect(wordsAfter(levels, 5).sentences).toEqual(['merchant would have to give 1, and nothing is left.'])
  expect(wordsAfter(levels, 0, 6).sentences).toEqual(['merchant would have to give 6, and 5 is all that it ever has.'])
  expect(wordsAfter(levels, 5, 1, ['merchant']).sentences).toEqual([
    'merchant denies this key everything: it is blocked or in debt.',
  ])
})

test('a shadow level is named, and denies nothing', () => {
  const levels = [{ name: 'trial', key: 'merchant', limit: bucket, shadow: true }]
  expect(wordsAfter(levels, 5)).toMatchObject({
    title: 'Allowed',
    sentences: [
      'A request like this would pass now, and take nothing.',
      'In shadow, so it does not count: trial would have to give 1, and nothing is left.',
    ],
  })
})

test('a request that no level matches is allowed, and the title says so', () => {
  const levels = [{ name: 'ip', key: 'ip', limit: bucket }]
  expect(wordsAfter(levels, 0).title).toBe('Allowed: no level matches')
})

test('a request that waits for its turn says how long', () => {
  const levels = [{ name: 'queue', limit: { algorithm: 'leaky-bucket', capacity: 5, drain: '2/s' } as const }]
  expect(wordsAfter(levels, 1).sentences[1]).toBe('It would wait 500 ms for its turn.')
})

test('of a hundred levels the first are named', () => {
  const levels = Array.from({ length: 100 }, (_, i) => ({ name: `level-${i}`, limit: bucket }))
  expect(wordsAfter(levels, 0).sentences[0]).toMatch(/level-6, level-7 and 92 more\.$/)
  const denied = wordsAfter(levels, 5)
  expect(denied.title).toBe(
    'Denied by level-0, level-1, level-2, level-3, level-4, level-5, level-6, level-7 and 92 more',
  )
  expect(denied.sentences).toHaveLength(9)
  expect(denied.sentences[8]).toBe('And 92 more.')
})

test('without its store a limit that is open takes nothing, and one that is closed says why it denies', () => {
  const [level] = createPolicy({ levels: [{ name: 'global', limit: bucket }] }).explain({})
  const wordsOf = (degraded: 'open' | 'closed') => {
    const allowed = degraded === 'open'
    const limits = (level.limits ?? []).map(({ limit, decision }) => ({
      limit,
      decision: { ...decision, allowed, degraded },
    }))
    const answer = {
      allowed,
      deniedBy: allowed ? [] : ['global'],
      attributes: {},
      cost: 1,
      unused: [],
      isMasked: false,
    }
    return verdictWords({ ...answer, atMs: 0, policy: 'p', levels: [{ ...level, limits }] }, new Set()).sentences
  }
  expect(wordsOf('open')).toEqual(['A request like this would pass now, and take nothing.'])
  expect(wordsOf('closed')).toEqual(['global denies everything while the store does not answer.'])
})
