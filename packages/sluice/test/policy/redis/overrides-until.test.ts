import { expect, it } from 'vitest'
import { createPolicy, fixedWindow, InvalidTypeError, InvalidValueError } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const quota = (units: number) => fixedWindow({ quota: units, window: '30d' })
const LEVELS = [{ name: 'merchant', key: 'merchant', limit: quota(1) }] as const
/** The last time that a Date can tell. */
const LAST_MS = 8.64e15

onBothStores((own) => {
  const start = () => createPolicy({ name: 'api', levels: LEVELS, store: own.store })
  const quotaOf = async () => (await start().peek({ merchant: 'm' })).levels[0].decision.quota

  it.each([
    0,
    -0,
    -1,
    new Date(0),
    new Date(-1),
    Number.MIN_VALUE,
    1,
    LAST_MS + 1,
    2 ** 53,
    1e300,
    Number.MAX_VALUE,
    Infinity,
    Number.NaN,
    new Date('x'),
  ])('an end of %s is an error, and changes nothing', async (until) => {
    const policy = start()
    await policy.override('merchant', 'm', quota(9))
    const set = async () => policy.override('merchant', 'm', quota(99), { until })
    await expect(set()).rejects.toThrow(InvalidValueError)
    expect(await quotaOf()).toBe(9)
  })

  it.each(['tomorrow', null, true, [5], {}])('an end of %j is no time at all', async (until) => {
    const policy = start()
    await policy.override('merchant', 'm', quota(9))
    const set = async () => policy.override('merchant', 'm', quota(99), { until: until as never })
    await expect(set()).rejects.toThrow(InvalidTypeError)
    expect(await quotaOf()).toBe(9)
  })

  it.each([LAST_MS, new Date(LAST_MS), LAST_MS - 1, Date.UTC(9999, 0, 1)])(
    'an end as far away as %s holds',
    async (until) => {
      await start().override('merchant', 'm', quota(99), { until })
      own.clock.advance(365 * 24 * 3_600_000)
      expect(await quotaOf()).toBe(99)
      await start().removeOverride('merchant', 'm')
      own.clock.advance(2_000)
      expect(await quotaOf()).toBe(1)
    },
  )

  it('an end between two milliseconds is kept', async () => {
    await start().override('merchant', 'm', quota(99), { until: own.clock.now() + 0.5 })
    expect(await quotaOf()).toBe(99)
    own.clock.advance(1)
    expect(await quotaOf()).toBe(1)
  })
})
