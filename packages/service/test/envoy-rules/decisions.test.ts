import { describe, expect, test } from 'vitest'
import type { RateLimitResponse } from '../../src/envoy/rate-limit-request.js'
import { GRPC_STATUS, GrpcError } from '../../src/grpc/grpc-error.js'
import { answerOf, type RulesHere, rulesHere, UNITS } from './rules-here.js'

const limit = (requests: number, unit = 'minute', more = '') =>
  `rate_limit: { unit: ${unit}, requests_per_unit: ${requests}${more === '' ? '' : `, ${more}`} }`

/** Rules of the domain `test` with these items of `descriptors`. */
const rules = (...descriptors: readonly string[]): RulesHere =>
  rulesHere(`domain: test\ndescriptors:\n${descriptors.map((each) => `  - { ${each} }`).join('\n')}`)

describe('errors of envoyproxy/ratelimit', () => {
  const { decider } = rules(`key: a, ${limit(1)}`)
  const descriptors = [{ entries: [], isNegativeHits: false }]

  test.each([
    ['rate limit domain must not be empty', { domain: '', descriptors, hitsAddend: 0 }],
    ['rate limit descriptor list must not be empty', { domain: 'test', descriptors: [], hitsAddend: 0 }],
  ])('%s', (message, request) => {
    expect(() => decider.shouldRateLimit(request)).toThrow(new GrpcError(GRPC_STATUS.invalidArgument, message))
  })
})

describe('a descriptor without a limit is OK and has no current_limit', () => {
  const here = rules(`key: a, ${limit(1)}`, `key: list, descriptors: [{ key: b, ${limit(1)} }]`, 'key: free')

  test.each(['other=x', 'a=x b=y', 'list=x', 'list=x c=y', 'free=x', ''])('%j', (descriptor) => {
    const { overall, codes, statuses } = here.ask(descriptor)
    expect({ overall, codes }).toEqual({ overall: 'OK', codes: ['OK no limit'] })
    expect(statuses[0]).not.toHaveProperty('currentLimit')
  })

  test('an unknown domain', () => {
    const elsewhere = rulesHere(`domain: test\ndescriptors: [{ key: a, ${limit(0)} }]`, 'other')
    expect(elsewhere.ask('a=x').codes).toEqual(['OK no limit'])
  })
})

test('a limit counts, says what is left and until when, and denies', () => {
  const { ask, clock } = rules(`key: a, ${limit(2, 'minute', 'name: per_a')}`)
  const { overall, statuses } = ask('a=x')
  expect(overall).toBe('OK')
  expect(statuses).toEqual([
    {
      code: 1,
      currentLimit: { requestsPerUnit: 2, unit: UNITS.minute, name: 'per_a' },
      limitRemaining: 1,
      untilResetMs: 30_000,
    },
  ])
  expect(ask('a=x').codes).toEqual(['OK 0'])
  expect(ask('a=x').overall).toBe('OVER_LIMIT')
  expect(ask('a=x').statuses[0]).toMatchObject({ code: 2, limitRemaining: 0, untilResetMs: 30_000 })
  expect(ask('a=y').codes).toEqual(['OK 1'])
  clock.advance(30_000)
  expect(ask('a=x').codes).toEqual(['OK 1'])
})

test('requests_per_unit 0 denies always, also a look', () => {
  const { ask } = rules(`key: a, ${limit(0)}`, `key: b, ${limit(5)}`)
  expect(ask('a=x').overall).toBe('OVER_LIMIT')
  expect(ask({ of: 'a=x', hits: 0 }).overall).toBe('OVER_LIMIT')
  expect(ask({ of: 'a=x', hits: 0 }, 'b=y').codes).toEqual(['OVER_LIMIT 0', 'OK 5'])
  expect(ask({ of: 'b=y', hits: 0 }).codes).toEqual(['OK 5'])
})

test('an unlimited rule is OK with the largest number left, and has no current_limit', () => {
  const { ask } = rules('key: a, rate_limit: { unlimited: true }')
  const { overall, statuses } = ask('a=x')
  expect(overall).toBe('OK')
  expect(statuses).toEqual([{ code: 1, limitRemaining: 4_294_967_295 }])
})

test('a denied request takes nothing, and charges no other descriptor', () => {
  const { ask } = rules(`key: a, ${limit(5)}`, `key: b, ${limit(1)}`)
  expect(ask('a=x', 'b=y').codes).toEqual(['OK 4', 'OK 0'])
  expect(ask('a=x', 'b=y').codes).toEqual(['OK 4', 'OVER_LIMIT 0'])
  expect(ask({ of: 'a=x', hits: 9 }).overall).toBe('OVER_LIMIT')
  expect(ask({ of: 'a=x', hits: 0 }).codes).toEqual(['OK 4'])
})

describe('hits', () => {
  test('those of the descriptor replace those of the request; 0 only looks', () => {
    const { decider } = rules(`key: a, ${limit(10)}`)
    const left = (hitsAddend: number, own?: number) => {
      const descriptor = { entries: [{ key: 'a', value: 'x' }], isNegativeHits: false }
      const descriptors = [own === undefined ? descriptor : { ...descriptor, hitsAddend: own }]
      const response = decider.shouldRateLimit({ domain: 'test', descriptors, hitsAddend })
      return answerOf(response as RateLimitResponse).statuses[0].limitRemaining
    }
    expect([left(0), left(3), left(3, 1), left(3, 0), left(0, 0), left(0, 2)]).toEqual([9, 6, 5, 5, 5, 3])
  })

  test('negative hits give back, at most the whole quota', () => {
    const { ask } = rules(`key: a, ${limit(5)}`)
    expect(ask({ of: 'a=x', hits: 4 }).codes).toEqual(['OK 1'])
    expect(ask({ of: 'a=x', hits: 3, refund: true }).codes).toEqual(['OK 4'])
    expect(ask({ of: 'a=x', hits: 3, refund: true }).codes).toEqual(['OK 5'])
  })

  test('a denied request gives nothing back either', () => {
    const { ask } = rules(`key: a, ${limit(5)}`, `key: b, ${limit(0)}`)
    ask({ of: 'a=x', hits: 4 })
    expect(ask({ of: 'a=x', refund: true }, 'b=y').codes).toEqual(['OK 1', 'OVER_LIMIT 0'])
    expect(ask({ of: 'a=x', hits: 0 }).codes).toEqual(['OK 1'])
  })

  test('two descriptors of one state need the hits of both', () => {
    const { ask } = rules(`key: a, ${limit(3)}`)
    expect(ask('a=x', 'a=x').codes).toEqual(['OK 1', 'OK 1'])
    expect(ask('a=x', 'a=x').overall).toBe('OVER_LIMIT')
    expect(ask('a=x').codes).toEqual(['OK 0'])
  })
})

test('a shadow rule answers OK, and counts', () => {
  const { ask } = rules(`key: a, shadow_mode: true, ${limit(1)}`, `key: b, ${limit(5)}`)
  expect(ask('a=x', 'b=y')).toMatchObject({ overall: 'OK', codes: ['OK 0', 'OK 4'] })
  expect(ask('a=x', 'b=y')).toMatchObject({ overall: 'OK', codes: ['OK 0', 'OK 3'] })
})

describe('quota_mode', () => {
  const quotas = () =>
    rules(
      `key: q, value: '1', quota_mode: true, ${limit(1)}`,
      `key: q, value: '2', quota_mode: true, ${limit(2)}`,
      `key: b, ${limit(5)}`,
    )

  test('one quota rule that is over denies, because then all are', () => {
    const { ask } = quotas()
    expect(ask('q=1', 'b=y').overall).toBe('OK')
    expect(ask('q=1', 'b=y')).toMatchObject({ overall: 'OVER_LIMIT', codes: ['OVER_LIMIT 0', 'OK 4'] })
  })

  test('of several, all must be over; a denied request takes nothing', () => {
    const { ask } = quotas()
    expect(ask('q=1', 'q=2', 'b=y')).toMatchObject({ overall: 'OK', codes: ['OK 0', 'OK 1', 'OK 4'] })
    expect(ask('q=1', 'q=2', 'b=y')).toMatchObject({ overall: 'OK', codes: ['OVER_LIMIT 0', 'OK 0', 'OK 3'] })
    expect(ask('q=1', 'q=2', 'b=y')).toMatchObject({
      overall: 'OVER_LIMIT',
      codes: ['OVER_LIMIT 0', 'OVER_LIMIT 0', 'OK 3'],
    })
    expect(ask({ of: 'b=y', hits: 0 }).codes).toEqual(['OK 3'])
  })

  test('an ordinary rule that is over denies, and the quota rules take nothing', () => {
    const { ask } = quotas()
    expect(ask('q=1', 'q=2', { of: 'b=y', hits: 6 }).codes).toEqual(['OK 1', 'OK 2', 'OVER_LIMIT 0'])
    expect(ask('q=2', { of: 'q=1', hits: 0 }).codes).toEqual(['OK 1', 'OK 1'])
  })

  test('the hits of an answer may exceed what is left, and the next look is over', () => {
    const { ask } = rules(`key: tokens, quota_mode: true, ${limit(100)}`)
    expect(ask({ of: 'tokens=x', hits: 90 }).codes).toEqual(['OK 10'])
    expect(ask({ of: 'tokens=x', hits: 0 }).codes).toEqual(['OK 10'])
    expect(ask({ of: 'tokens=x', hits: 50 }).overall).toBe('OVER_LIMIT')
    expect(ask({ of: 'tokens=x', hits: 0 }).overall).toBe('OVER_LIMIT')
  })

  test('count_over_limit says so for ordinary rules; without it such hits count for nothing', () => {
    const { ask } = rules(`key: a, count_over_limit: true, ${limit(10)}`, `key: b, ${limit(10)}`)
    for (const of of ['a=x', 'b=x']) ask({ of, hits: 9 }, { of, hits: 0 })
    expect(ask({ of: 'a=x', hits: 5 }).overall).toBe('OVER_LIMIT')
    expect(ask({ of: 'b=x', hits: 5 }).overall).toBe('OVER_LIMIT')
    expect(ask({ of: 'a=x', hits: 0 }).overall).toBe('OVER_LIMIT')
    expect(ask({ of: 'b=x', hits: 0 }).codes).toEqual(['OK 1'])
    expect(ask({ of: 'a=y', hits: 10 }).codes).toEqual(['OK 0'])
    expect(ask({ of: 'a=y', hits: 0 }).overall).toBe('OVER_LIMIT')
  })
})

test('a limit that another matched limit replaces does not count', () => {
  const { ask } = rules(
    `key: a, ${limit(1, 'minute', 'name: base')}`,
    `key: b, ${limit(5, 'minute', 'name: special, replaces: [{ name: base }]')}`,
  )
  expect(ask('a=x', 'b=y').codes).toEqual(['OK no limit', 'OK 4'])
  expect(ask('a=x').codes).toEqual(['OK 0'])
  expect(ask('a=x', 'b=y')).toMatchObject({ overall: 'OK', codes: ['OK no limit', 'OK 3'] })
  expect(ask('a=x').overall).toBe('OVER_LIMIT')
})

test('an unlimited rule has no limit that another one could replace', () => {
  const { ask } = rules(
    'key: a, rate_limit: { unlimited: true, name: base }',
    `key: b, ${limit(5, 'minute', 'name: special, replaces: [{ name: base }]')}`,
  )
  expect(ask('a=x', 'b=y').codes).toEqual(['OK 4294967295', 'OK 4'])
})

describe('a limit in the request', () => {
  const perSecond = (requestsPerUnit: number) => ({ requestsPerUnit, unit: UNITS.second })

  test('replaces that of the rule, and its shadow mode', () => {
    const { ask } = rules(`key: a, shadow_mode: true, ${limit(1, 'minute', 'name: mine')}`)
    expect(ask({ of: 'a=x', limit: perSecond(2) }).statuses).toEqual([
      { code: 1, currentLimit: { ...perSecond(2), name: '' }, limitRemaining: 1, untilResetMs: 1_000 },
    ])
    ask({ of: 'a=x', limit: perSecond(2) })
    expect(ask({ of: 'a=x', limit: perSecond(2) }).overall).toBe('OVER_LIMIT')
    expect(ask({ of: 'a=x', limit: perSecond(3) }).codes).toEqual(['OK 0'])
    expect(ask({ of: 'a=x', limit: { requestsPerUnit: 3, unit: UNITS.month } }).codes).toEqual(['OK 2'])
  })

  test('counts without a rule, for all entries of the descriptor', () => {
    const { ask } = rules(`key: a, ${limit(1)}`)
    expect(ask({ of: 'b=x c=y', limit: perSecond(2) }).codes).toEqual(['OK 1'])
    expect(ask({ of: 'b=x c=y', limit: perSecond(2) }).codes).toEqual(['OK 0'])
    expect(ask({ of: 'b=x c=z', limit: perSecond(2) }).codes).toEqual(['OK 1'])
    expect(ask({ of: 'b=x|c=y', limit: perSecond(2) }).codes).toEqual(['OK 1'])
  })

  test('gives back, too', () => {
    const { ask } = rules(`key: a, ${limit(1)}`)
    ask({ of: 'a=x', limit: perSecond(5), hits: 4 })
    expect(ask({ of: 'a=x', limit: perSecond(5), hits: 2, refund: true }).codes).toEqual(['OK 3'])
  })

  test('with an unknown unit counts for nothing: the rule does, and without a rule it is an error', () => {
    const { ask } = rules(`key: a, ${limit(5)}`)
    for (const unit of [0, 99 as never] as const) {
      const unknown = { requestsPerUnit: 1, unit }
      expect(ask({ of: `a=${unit}`, limit: unknown }).codes).toEqual(['OK 4'])
      expect(() => ask('a=x', { of: 'b=x', limit: unknown })).toThrow(
        'the limit of descriptor 1 has no unit that is known',
      )
    }
  })
})

describe('response_headers_to_add', () => {
  const { ask } = rules(
    `key: a, ${limit(2, 'month')}`,
    `key: q, value: '1', quota_mode: true, ${limit(0)}`,
    `key: q, value: '2', quota_mode: true, ${limit(2)}`,
  )
  const headersOf = (...descriptors: string[]) => {
    const { responseHeaders, rawBody } = ask(...descriptors).response
    const headers = Object.fromEntries(responseHeaders.map(({ key, value }) => [key, value]))
    return { headers, body: rawBody && Buffer.from(rawBody).toString() }
  }
  const secondsLeft = (Date.UTC(2026, 11, 1) - Date.UTC(2026, 10, 19, 12, 30, 30)) / 1_000

  test('say the quota of each limit, and until when', () => {
    expect(headersOf('a=x').headers.RateLimit).toBe(`"test.a..month";r=1;t=${secondsLeft}`)
  })

  test('do not say that a quota is over which denies nothing', () => {
    expect(headersOf('q=1', 'q=2').headers.RateLimit).toMatch(/^"test.q_2";r=1;t=\d+$/)
  })

  test('a denial says when to come back, and has a body', () => {
    headersOf('a=x')
    const { headers, body } = headersOf('a=x')
    expect(headers['Retry-After']).toBe(`${secondsLeft}`)
    expect(body).toContain('"status":429')
  })
})

describe('states', () => {
  test('values that join to the same text have states of their own', () => {
    const { ask } = rules(`key: a, descriptors: [{ key: b, ${limit(1)} }]`)
    const descriptors = ['a=x|y b=z', 'a=x b=y|z', 'a=x\\ b=y', 'a=x b=\\y', 'a= b=x', 'a=x b=', 'a= b=', 'a=\\0 b=']
    for (const each of descriptors) expect(ask(each).codes, each).toEqual(['OK 0'])
    for (const each of descriptors) expect(ask(each).overall, each).toBe('OVER_LIMIT')
  })

  test('an exact value has one state, each value of a wildcard has one, and share_threshold makes them one', () => {
    const { ask } = rules(
      `key: a, value: x, ${limit(9)}`,
      `key: b, value: 'x*', ${limit(9)}`,
      `key: c, value: 'x*', share_threshold: true, ${limit(9)}`,
      `key: d, value: 'x*', share_threshold: true, descriptors: [{ key: e, ${limit(9)} }]`,
    )
    const left = (...asked: string[]) => asked.map((each) => ask(each).codes[0])
    expect(left('a=x', 'a=x')).toEqual(['OK 8', 'OK 7'])
    expect(left('b=x1', 'b=x2')).toEqual(['OK 8', 'OK 8'])
    expect(left('c=x1', 'c=x2')).toEqual(['OK 8', 'OK 7'])
    expect(left('d=x1 e=1', 'd=x2 e=1', 'd=x1 e=2')).toEqual(['OK 8', 'OK 7', 'OK 8'])
  })
})

describe('more than envoyproxy/ratelimit has', () => {
  test('any window', () => {
    const { ask, clock } = rules('key: a, rate_limit: { window: 45s, requests_per_unit: 1 }')
    expect(ask('a=x').statuses[0]).toMatchObject({ currentLimit: { requestsPerUnit: 1, unit: UNITS.unknown } })
    expect(ask('a=x').overall).toBe('OVER_LIMIT')
    clock.advance(45_000)
    expect(ask('a=x').overall).toBe('OK')
  })

  test('several limits on one key: the tightest is shown', () => {
    const { ask, clock } = rules(
      'key: a, rate_limit: [{ unit: second, requests_per_unit: 2, name: both }, { unit: month, requests_per_unit: 3 }]',
    )
    expect(ask('a=x').statuses[0]).toMatchObject({
      limitRemaining: 1,
      currentLimit: { unit: UNITS.second, name: 'both' },
    })
    expect(ask('a=x').codes).toEqual(['OK 0'])
    expect(ask('a=x').statuses[0]).toMatchObject({ code: 2, currentLimit: { unit: UNITS.second } })
    clock.advance(1_000)
    expect(ask('a=x').statuses[0]).toMatchObject({ limitRemaining: 0, currentLimit: { unit: UNITS.month } })
    clock.advance(1_000)
    expect(ask('a=x').statuses[0]).toMatchObject({ code: 2, currentLimit: { requestsPerUnit: 3, unit: UNITS.month } })
  })

  test.each([
    ['token-bucket', 'algorithm: token-bucket, unit: second, requests_per_unit: 1, burst: 3', [2, 1, 0, 'over'], 1],
    ['sliding-window', 'algorithm: sliding-window, unit: minute, requests_per_unit: 2', [1, 0, 'over'], 2],
    ['sliding-log', 'algorithm: sliding-log, window: 10s, requests_per_unit: 1', [0, 'over'], 1],
  ])('algorithm %s', (_, written, left, requestsPerUnit) => {
    const { ask } = rules(`key: a, rate_limit: { ${written} }`)
    for (const each of left) expect(ask('a=x').codes).toEqual([each === 'over' ? 'OVER_LIMIT 0' : `OK ${each}`])
    expect(ask('a=x').statuses[0].currentLimit).toMatchObject({ requestsPerUnit })
  })

  test('CIDR ranges and prefixes, in the order of the file', () => {
    const { ask } = rules(
      `key: ip, cidr: [10.0.0.0/8, 2001:db8::/32], ${limit(1)}`,
      `key: ip, prefix: ['10.', '192.'], share_threshold: true, ${limit(2)}`,
      `key: ip, value: 10.0.0.1, ${limit(3)}`,
      `key: ip, ${limit(4)}`,
    )
    const left = (...asked: string[]) => asked.map((each) => ask(`ip=${each}`).codes[0])
    expect(left('10.0.0.2', '10.0.0.3', '2001:db8::1')).toEqual(['OK 0', 'OK 0', 'OK 0'])
    expect(left('10.999', '192.0.2.1')).toEqual(['OK 1', 'OK 0'])
    expect(left('10.0.0.1', '11.0.0.1')).toEqual(['OK 2', 'OK 3'])
  })
})

test('dynamic_metadata has the metadata of matched rules, and which quota rules are over', () => {
  const { ask } = rules(
    `key: a, ${limit(5)}, metadata: { team: { name: web } }`,
    `key: q, value: '1', quota_mode: true, ${limit(1)}`,
    `key: q, value: '2', quota_mode: true, ${limit(2)}`,
    `key: plain, ${limit(5)}`,
  )
  expect(ask('plain=x').response.metadata).toBeUndefined()
  ask('q=1')
  expect(ask({ of: 'a=x', hits: 2 }, 'q=1', 'q=2').response.metadata).toEqual({
    domain: 'test',
    descriptors: [
      { entries: ['a=x'], hitsAddend: 2, metadata: { team: { name: 'web' } } },
      { entries: ['q=1'] },
      { entries: ['q=2'] },
    ],
    quotaModeEnabled: true,
    quotaModeViolations: [1],
  })
})

test('reset, block and run-time overrides of the policy work on rules', () => {
  const { ask, policy } = rules(`key: a, ${limit(1)}`, `key: b, value: x, ${limit(1)}`)
  ask('a=x', 'b=x')
  policy.reset({ rule: 'test.a', descriptor: 'x' } as never)
  expect(ask('a=x').codes).toEqual(['OK 0'])
  policy.override('test.a' as never, 'x', { algorithm: 'fixed-window', quota: 9, window: '1m' })
  expect(ask('a=x').statuses[0]).toMatchObject({ limitRemaining: 7, currentLimit: { requestsPerUnit: 9 } })
  policy.block({ rule: 'test.a', descriptor: 'y' } as never, { duration: '1m' } as never)
  expect(ask('a=y').overall).toBe('OVER_LIMIT')
  policy.reset({ rule: 'test.b_x' } as never)
  expect(ask('b=x').codes).toEqual(['OK 0'])
})

describe('settings of envoyproxy/ratelimit', () => {
  const one = `domain: test\ndescriptors: [{ key: a, ${limit(1)} }]`
  const other = `domain: test\ndescriptors: [{ key: b, ${limit(2)} }]`

  test('MERGE_DOMAIN_CONFIG: several files of one domain', () => {
    const { ask } = rulesHere([one, other], 'test', undefined, { mergeDomains: true })
    expect(ask('a=x', 'b=x').codes).toEqual(['OK 0', 'OK 1'])
    expect(() => rulesHere([one, one], 'test', undefined, { mergeDomains: true })).toThrow(
      "rules/1.yaml:1:1 duplicate descriptor composite key 'test.a'; it is in rules/0.yaml, too",
    )
  })

  test('SHADOW_MODE: nothing denies, not even a limit in the request', () => {
    const { ask } = rulesHere(one, 'test', undefined, { shadow: true })
    expect([ask('a=x').overall, ask('a=x').overall]).toEqual(['OK', 'OK'])
    for (const requestsPerUnit of [0, 1]) {
      const given = { of: 'a=x', limit: { requestsPerUnit, unit: UNITS.day } }
      ask(given)
      expect(ask(given)).toMatchObject({ overall: 'OK', codes: ['OK 0'], response: { rawBody: undefined } })
    }
    expect(ask({ of: 'a=z', limit: { requestsPerUnit: 5, unit: UNITS.day } }, { of: 'a=y', hits: 5 }).codes).toEqual([
      'OK 4',
      'OK 0',
    ])
  })
})
