import { type Condition, createPolicy, fixedWindow } from 'sluice'
import { describe, expect, it } from 'vitest'

const limit = fixedWindow({ quota: 1_000, window: '1h' })

/** Does a level with one condition match a request? */
function isAbout(attribute: string, condition: Condition, request: Record<string, unknown>): boolean {
  const policy = createPolicy({ levels: [{ name: 'level', when: { [attribute]: condition }, limit }] })
  return policy.check(request as never).levels.length === 1
}

const ABSENT: readonly Record<string, unknown>[] = [
  {},
  { plan: undefined },
  { plan: null },
  { plan: '' },
  Object.create(null),
]

describe('a condition on an attribute', () => {
  it('holds for an equal value, compared as text', () => {
    expect(isAbout('plan', 'gold', { plan: 'gold' })).toBe(true)
    expect(isAbout('plan', 'gold', { plan: 'Gold' })).toBe(false)
    expect(isAbout('plan', 'gold', { plan: 'gold ' })).toBe(false)
    for (const given of [5, '5', 5.0]) {
      expect(isAbout('plan', 5, { plan: given })).toBe(true)
      expect(isAbout('plan', '5', { plan: given })).toBe(true)
    }
    expect(isAbout('plan', '05', { plan: 5 })).toBe(false)
    expect(isAbout('plan', 0, { plan: 0 })).toBe(true)
    expect(isAbout('plan', 0, { plan: -0 })).toBe(true)
    for (const given of [true, 'true']) expect(isAbout('plan', true, { plan: given })).toBe(true)
    expect(isAbout('plan', false, { plan: false })).toBe(true)
    expect(isAbout('plan', false, {})).toBe(false)
  })

  it('holds for each value of a list', () => {
    const list = ['gold', 5, true]
    for (const plan of ['gold', 5, '5', true, 'true']) expect(isAbout('plan', list, { plan })).toBe(true)
    for (const plan of ['silver', 6, false, 'gold,5']) expect(isAbout('plan', list, { plan })).toBe(false)
    for (const request of ABSENT) expect(isAbout('plan', list, request)).toBe(false)
  })

  it('holds for an absent attribute if it is null or present: false', () => {
    for (const condition of [null, [null], { present: false }]) {
      for (const request of ABSENT) expect(isAbout('plan', condition, request)).toBe(true)
      for (const plan of ['gold', 0, false, ' ', 'null', 'undefined']) {
        expect(isAbout('plan', condition, { plan })).toBe(false)
      }
    }
  })

  it('holds for the values and for absence if it is a list with null', () => {
    for (const request of ABSENT) expect(isAbout('plan', ['gold', null], request)).toBe(true)
    expect(isAbout('plan', ['gold', null], { plan: 'gold' })).toBe(true)
    expect(isAbout('plan', ['gold', null], { plan: 'silver' })).toBe(false)
  })

  it('holds for any value if it is present: true, also for 0 and false', () => {
    for (const condition of [{ present: true }, { not: null }]) {
      for (const plan of ['gold', 0, false, ' ']) expect(isAbout('plan', condition, { plan })).toBe(true)
      for (const request of ABSENT) expect(isAbout('plan', condition, request)).toBe(false)
    }
  })

  it('holds for all other values and for absence if it is not', () => {
    expect(isAbout('plan', { not: 'gold' }, { plan: 'gold' })).toBe(false)
    expect(isAbout('plan', { not: 'gold' }, { plan: 'silver' })).toBe(true)
    for (const request of ABSENT) {
      expect(isAbout('plan', { not: 'gold' }, request)).toBe(true)
      expect(isAbout('plan', { not: ['gold', null] }, request)).toBe(false)
    }
    expect(isAbout('plan', { not: ['gold', 'silver'] }, { plan: 'silver' })).toBe(false)
  })
})

describe('a method', () => {
  it('is compared in any case', () => {
    for (const condition of ['POST', 'post', ['GET', 'Post'], { not: 'get' }]) {
      for (const method of ['POST', 'post', 'PoSt']) expect(isAbout('method', condition, { method })).toBe(true)
      expect(isAbout('method', condition, { method: 'GET' })).toBe(Array.isArray(condition))
    }
  })

  it('has one key, in any case', () => {
    const policy = createPolicy({ levels: [{ name: 'method', key: 'method', limit }] })
    policy.check({ method: 'get' })
    expect(policy.check({ method: 'GET' }).levels[0].decision.remaining).toBe(998)
  })
})

describe('an address', () => {
  it.each(['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203', '10.1.2.3:4711', '[::ffff:10.1.2.3]:80'])(
    '%s is in its block under any name, and its opposite is not',
    (ip) => {
      for (const block of ['10.0.0.0/8', ['192.0.2.1', '10.1.0.0/16'], '10.1.2.3', '::ffff:10.0.0.0/104']) {
        expect(isAbout('ip', block, { ip })).toBe(true)
        expect(isAbout('ip', { not: block }, { ip })).toBe(false)
        expect(isAbout('proxy', { cidr: block }, { proxy: ip })).toBe(true)
      }
      for (const block of ['11.0.0.0/8', '::/0', '2001:db8::/32']) {
        expect(isAbout('ip', block, { ip })).toBe(false)
        expect(isAbout('ip', { not: block }, { ip })).toBe(true)
        expect(isAbout('proxy', { cidr: block }, { proxy: ip })).toBe(false)
      }
    },
  )

  it('that cannot be parsed is in no range, and is not absent', () => {
    for (const ip of ['unknown', '127.1', '010.1.2.3', '167837955']) {
      expect(isAbout('ip', ['0.0.0.0/0', '::/0', null], { ip })).toBe(false)
      expect(isAbout('ip', { not: '10.0.0.0/8' }, { ip })).toBe(true)
      expect(isAbout('ip', { present: true }, { ip })).toBe(true)
    }
    expect(isAbout('ip', ['10.0.0.0/8', null], {})).toBe(true)
  })

  it('is the key if it is IPv4; its network is the key if it is IPv6', () => {
    const used = (ipv6Prefix: number | undefined, one: string, other: string) => {
      const policy = createPolicy({ levels: [{ name: 'ip', key: 'ip', limit }], ...(ipv6Prefix && { ipv6Prefix }) })
      policy.check({ ip: one })
      return policy.check({ ip: other }).levels[0].decision.remaining === 998
    }
    expect(used(undefined, '1.2.3.4', '::ffff:102:304')).toBe(true)
    expect(used(undefined, '1.2.3.4:80', '1.2.3.4:81')).toBe(true)
    expect(used(1, '1.2.3.4', '1.2.3.5')).toBe(false)
    expect(used(undefined, '::ffff:1.2.3.4', '::ffff:1.2.3.5')).toBe(false)
    expect(used(undefined, '2001:db8:0:1::1', '2001:db8:0:2::1')).toBe(true)
    expect(used(undefined, '2001:db8:0:100::1', '2001:db8:0:200::1')).toBe(false)
    expect(used(64, '2001:db8:0:1::1', '2001:db8:0:2::1')).toBe(false)
    expect(used(128, '2001:db8::1', '2001:db8::2')).toBe(false)
    expect(used(128, '2001:db8::1', '2001:DB8:0:0::1%eth0')).toBe(true)
  })
})

describe('the condition of one level on an attribute', () => {
  it('does not change the condition of another level', () => {
    const policy = createPolicy({
      levels: [
        { name: 'path', when: { route: { path: '/v1/**' } }, limit },
        { name: 'equal', when: { route: '/v1/' }, limit },
      ],
    })
    expect(policy.check({ route: '/v1/' }).levels.map(({ name }) => name)).toEqual(['path', 'equal'])
  })

  it('does not change how another level reads the attribute', () => {
    const policy = createPolicy({
      levels: [
        { name: 'path', when: { x: { path: '/v1/**' } }, limit },
        { name: 'block', when: { x: { cidr: '10.0.0.0/8' } }, limit },
      ],
    })
    expect(policy.check({ x: '//v1//a' }).levels.map(({ name }) => name)).toEqual(['path'])
  })
})
