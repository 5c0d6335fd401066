import { expect, it } from 'vitest'
import { createPolicy, fixedWindow } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const quota = (units: number) => fixedWindow({ quota: units, window: '1d' })

const LEVELS = [
  { name: 'all', limit: quota(1_000) },
  { name: 'user', key: 'user', limit: quota(100) },
  { name: 'pair', key: ['user', 'path'], limit: quota(50) },
  { name: 'ip', key: 'ip', limit: quota(20) },
  { name: 'route', key: ['method', 'path'], limit: quota(20) },
] as const

onBothStores((own) => {
  const create = () => createPolicy({ name: 'api', levels: LEVELS, store: own.store })

  it('lists every override in the order of the levels, with its limits and its end', async () => {
    const policy = create()
    const untilMs = own.clock.now() + 60_000
    expect(await policy.overrides()).toEqual([])
    await policy.override('ip', '192.0.2.1', quota(1), { until: untilMs })
    await policy.override('user', 'alice', [quota(2), quota(3)])
    await policy.override('all', [], quota(4))
    expect(await policy.overrides()).toEqual([
      { level: 'all', key: [], limits: [quota(4)] },
      { level: 'user', key: 'alice', limits: [quota(2), quota(3)] },
      { level: 'ip', key: '192.0.2.1', limits: [quota(1)], untilMs },
    ])
    own.clock.advance(60_000)
    await policy.removeOverride('user', 'alice')
    expect((await policy.overrides()).map(({ level }) => level)).toEqual(['all'])
  })

  it('every key that is listed can be given to removeOverride and override again', async () => {
    const policy = create()
    const keys: [(typeof LEVELS)[number]['name'], string | readonly string[]][] = [
      ['all', []],
      ...['a', 'a|b', 'a\\|b', '|', '\\', '*', ' ', 'a\ud800'].map((user) => ['user', user] as ['user', string]),
      ...[
        ['a|b', '/c'],
        ['a', 'b|/c'],
        ['a\\', '/|'],
        ['||', '/v1//x/../y'],
        ['a', '/%7Euser/%2e%2e/x;y'],
        ['a', '/'],
      ].map((pair) => ['pair', pair] as ['pair', string[]]),
      ...['192.0.2.1', '::ffff:192.0.2.2', '2001:DB8:1::1', '2001:db8:2::/56', 'fe80::1%eth0', 'no address'].map(
        (ip) => ['ip', ip] as ['ip', string],
      ),
      ['route', ['head', '/Path/']],
    ]
    for (const [level, key] of keys) await policy.override(level, key, quota(1))
    const listed = await policy.overrides()
    expect(listed).toHaveLength(keys.length)
    for (const { level, key } of listed) await policy.override(level, key, quota(2))
    expect((await policy.overrides()).map(({ limits }) => limits)).toEqual(keys.map(() => [quota(2)]))
    for (const { level, key } of listed) await policy.removeOverride(level, key)
    expect(await policy.overrides()).toEqual([])
  })

  it('an override of a level that the policy does not have is left out', async () => {
    const older = createPolicy({
      name: 'api',
      levels: [{ name: 'gone', limit: quota(5) }, ...LEVELS],
      store: own.store,
    })
    await older.override('gone', [], quota(6))
    await older.override('all', [], quota(7))
    expect((await create().overrides()).map(({ level }) => level)).toEqual(['all'])
    expect((await older.overrides()).map(({ level }) => level)).toEqual(['gone', 'all'])
  })
})
