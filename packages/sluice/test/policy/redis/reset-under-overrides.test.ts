import { expect, it } from 'vitest'
import { createPolicy, fixedWindow, tokenBucket } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const day = (quota: number) => fixedWindow({ quota, window: '1d' })

onBothStores((own) => {
  it('reset forgets every limit of a level, even those that an override has no place for', async () => {
    const levels = [{ name: 'm', key: 'm', limit: [day(10), day(20)] }] as const
    const policy = createPolicy({ name: 'api', levels, store: own.store })
    await policy.check({ m: 'a' }, { cost: 5 })
    await policy.override('m', 'a', day(100))
    await policy.reset({ m: 'a' })
    await policy.removeOverride('m', 'a')
    expect((await policy.peek({ m: 'a' })).levels.map(({ decision }) => decision.remaining)).toEqual([10, 20])
  })

  it('reset forgets every limit of an override, even those that its level has no place for', async () => {
    const levels = [{ name: 'm', key: 'm', limit: day(10) }] as const
    const policy = createPolicy({ name: 'api', levels, store: own.store })
    const limits = [tokenBucket({ capacity: 30, refill: '1/d' }), day(40), day(50)]
    await policy.override('m', 'a', limits)
    await policy.check({ m: 'a' }, { cost: 5 })
    await policy.reset({ m: 'a' })
    expect((await policy.peek({ m: 'a' })).levels.map(({ decision }) => decision.remaining)).toEqual([30, 40, 50])
  })
})
