import { createPolicy, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { beforeEach, describe, expect, it } from 'vitest'

/** A bucket with this rate a second, and the burst of one second. */
const perSecond = (rate: number) => tokenBucket({ capacity: rate, refill: `${rate}/s` })

const LEVELS = [
  { name: 'global', limit: perSecond(10_000) },
  {
    name: 'merchant',
    key: ['merchant'],
    limit: perSecond(100),
    overrides: [{ when: { merchant: 'acct_big' }, limit: perSecond(1_000) }],
  },
  { name: 'charges', when: { method: 'POST', path: '/v1/charges' }, key: ['merchant'], limit: perSecond(50) },
  { name: 'customers', when: { method: 'GET', path: '/v1/customers' }, key: ['merchant'], limit: perSecond(200) },
  { name: 'ip', when: { merchant: null }, key: ['ip'], limit: perSecond(20) },
] as const

describe("a policy with Stripe's four levels", () => {
  let clock: ManualClock
  let policy: ReturnType<typeof stripe>
  const stripe = () => createPolicy({ levels: LEVELS, clock })

  beforeEach(() => {
    clock = new ManualClock(Date.UTC(2026, 0, 1))
    policy = stripe()
  })

  /** Sends a request many times at one instant. Returns how many were allowed, and the levels that denied the others. */
  function send(times: number, merchant: string | null, method: string, path: string, ip = '192.0.2.1') {
    let through = 0
    const stoppedBy = new Set<string>()
    for (let i = 0; i < times; i++) {
      const { allowed, deniedBy } = policy.check({ method, path, ip, merchant })
      if (allowed) through++
      for (const level of deniedBy) stoppedBy.add(level)
    }
    return { through, stoppedBy: [...stoppedBy] }
  }

  it('a merchant gets 100 a second', () => {
    expect(send(150, 'acct_1', 'GET', '/v1/balance')).toEqual({ through: 100, stoppedBy: ['merchant'] })
    clock.advance(500)
    expect(send(150, 'acct_1', 'GET', '/v1/balance')).toEqual({ through: 50, stoppedBy: ['merchant'] })
    expect(send(150, 'acct_2', 'GET', '/v1/balance')).toEqual({ through: 100, stoppedBy: ['merchant'] })
  })

  it('a merchant with an override gets the raised limit', () => {
    expect(send(1_500, 'acct_big', 'GET', '/v1/balance')).toEqual({ through: 1_000, stoppedBy: ['merchant'] })
  })

  it('a merchant gets 50 charges a second, and denied charges cost nothing in other levels', () => {
    expect(send(80, 'acct_1', 'POST', '/v1/charges')).toEqual({ through: 50, stoppedBy: ['charges'] })
    expect(send(80, 'acct_1', 'GET', '/v1/balance')).toEqual({ through: 50, stoppedBy: ['merchant'] })
    clock.advance(1_000)
    expect(send(80, 'acct_1', 'POST', '/v1/charges')).toEqual({ through: 50, stoppedBy: ['charges'] })
  })

  it('charges and customers are separate limits, each for its method and path', () => {
    expect(send(60, 'acct_big', 'POST', '/v1/charges').through).toBe(50)
    expect(send(250, 'acct_big', 'GET', '/v1/customers').through).toBe(200)
    expect(send(60, 'acct_big', 'GET', '/v1/charges').through).toBe(60)
    expect(send(250, 'acct_big', 'POST', '/v1/customers').through).toBe(250)
  })

  it('only a raised merchant reaches the 200 a second of customers', () => {
    expect(send(300, 'acct_1', 'GET', '/v1/customers')).toEqual({ through: 100, stoppedBy: ['merchant'] })
    expect(send(300, 'acct_big', 'GET', '/v1/customers')).toEqual({ through: 200, stoppedBy: ['customers'] })
  })

  it('a merchant that is raised at run time is served as soon as the raised limit refills', () => {
    expect(send(300, 'acct_1', 'GET', '/v1/customers')).toEqual({ through: 100, stoppedBy: ['merchant'] })
    policy.override('merchant', 'acct_1', perSecond(1_000))
    clock.advance(1_000)
    expect(send(300, 'acct_1', 'GET', '/v1/customers')).toEqual({ through: 200, stoppedBy: ['customers'] })
    policy.removeOverride('merchant', 'acct_1')
    clock.advance(1_000)
    expect(send(300, 'acct_1', 'GET', '/v1/customers')).toEqual({ through: 100, stoppedBy: ['merchant'] })
  })

  it('an address without a merchant gets 20 a second', () => {
    expect(send(30, null, 'POST', '/v1/tokens', '192.0.2.1')).toEqual({ through: 20, stoppedBy: ['ip'] })
    expect(send(30, null, 'POST', '/v1/tokens', '192.0.2.2')).toEqual({ through: 20, stoppedBy: ['ip'] })
    expect(send(30, 'acct_1', 'GET', '/v1/balance', '192.0.2.1')).toEqual({ through: 30, stoppedBy: [] })
    clock.advance(100)
    expect(send(30, null, 'POST', '/v1/tokens', '192.0.2.1')).toEqual({ through: 2, stoppedBy: ['ip'] })
  })

  it('the whole API serves 10,000 a second, however many merchants ask', () => {
    let through = 0
    for (let i = 0; i < 120; i++) through += send(100, `acct_${i}`, 'GET', '/v1/balance').through
    expect(through).toBe(10_000)
    expect(send(1, 'acct_119', 'GET', '/v1/balance').stoppedBy).toEqual(['global'])
    expect(send(1, 'acct_0', 'GET', '/v1/balance').stoppedBy).toEqual(['global', 'merchant'])
    clock.advance(1)
    expect(send(20, 'acct_119', 'GET', '/v1/balance')).toEqual({ through: 10, stoppedBy: ['global'] })
  })

  it('a minute of overload lets exactly the burst and the refill through', () => {
    let through = 0
    for (let tenths = 0; tenths <= 600; tenths++) {
      through += send(20, 'acct_1', 'GET', '/v1/balance').through
      clock.advance(100)
    }
    expect(through).toBe(100 + 100 * 60)
  })
})
