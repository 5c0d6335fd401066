import { createPolicy, fixedWindow, type Level, type When } from 'sluice'
import { describe, expect, it } from 'vitest'
import { exampleRequest } from '../../src/serve/example-request.js'

const limit = fixedWindow({ quota: 1, window: '1m' })

/** The example of the policy with these conditions, which must meet them. */
function exampleFor(when: When): object {
  const levels: readonly Level[] = [
    { name: 'all', limit },
    { name: 'asked', key: ['account'], when, limit },
  ]
  const policy = createPolicy({ levels })
  const request = exampleRequest(levels, policy.attributes)
  expect(policy.levelsFor(request)).toContain('asked')
  return request
}

describe('the example of a request', () => {
  it.each<[When, object]>([
    [
      { method: 'POST', path: '/v1/exports' },
      { method: 'POST', path: '/v1/exports' },
    ],
    [
      { method: ['GET', 'HEAD'], path: ['/v1/users/:id/*', '/x'] },
      { method: 'GET', path: '/v1/users/1/1' },
    ],
    [{ path: '/v1/**' }, { path: '/v1/example' }],
    [{ route: { path: '/v2/:id' } }, { route: '/v2/1' }],
    [{ ip: '10.0.0.0/8' }, { ip: '10.0.0.0' }],
    [{ from: { cidr: ['2001:db8::/32'] } }, { from: '2001:db8::' }],
    [
      { size: 3, beta: true },
      { size: 3, beta: true },
    ],
    [
      { plan: { not: 'free' }, method: 'GET' },
      { plan: 'example', method: 'GET' },
    ],
    [{ plan: [null, 'pro'] }, { plan: 'pro' }],
  ])('meets the conditions %j', (when, expected) => {
    expect(exampleFor(when)).toEqual({ account: 'example', ...expected })
  })

  it('has usual values where no condition names one', () => {
    const levels: readonly Level[] = [{ name: 'all', key: ['ip', 'tenant'], cost: 'tokens', limit }]
    const { attributes } = createPolicy({ levels })
    expect(exampleRequest(levels, attributes)).toEqual({ ip: '192.0.2.7', tenant: 'example', tokens: 1 })
  })
})
