import { expect, it } from 'vitest'
import { createPolicy, type Limit, leakyBucket, tokenBucket } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const HOUR = 3_600_000

onBothStores((own) => {
  const version = (limit: Limit) =>
    createPolicy({ name: 'api', levels: [{ name: 'm', key: 'm', limit }], store: own.store })

  it('a queue that was long under a fast drain is no longer than the slow one has room for', async () => {
    const policy = version(leakyBucket({ capacity: 10, drain: '10/h' }))
    await policy.override('m', 'x', leakyBucket({ capacity: 1_000, drain: '1000/s' }))
    const { levels } = await policy.check({ m: 'x' }, { cost: 900 })
    expect(levels[0].decision.quota).toBe(1_000)
    await policy.removeOverride('m', 'x')
    const denied = await policy.check({ m: 'x' })
    // Limited at once, but for one unit's time: not for the 90 hours that 900 units take at 10 an hour.
    expect(denied.allowed).toBe(false)
    expect(denied.retryAfterMs).toBe(HOUR / 10)
    own.clock.advance(denied.retryAfterMs)
    expect((await policy.check({ m: 'x' })).allowed).toBe(true)
    expect((await policy.check({ m: 'x' })).allowed).toBe(false)
  })

  it('a debt of a queue stays a debt under a smaller capacity', async () => {
    const [before, after] = [leakyBucket({ capacity: 100, drain: '1/s' }), leakyBucket({ capacity: 10, drain: '1/s' })]
    await version(before).charge({ m: 'x' }, { cost: 130 })
    const { levels } = await version(after).peek({ m: 'x' })
    expect(levels[0].decision.resetAfterMs).toBe(40_000)
  })

  it('those of the larger queue do not begin anew because one of the smaller was charged', async () => {
    const [large, small] = [leakyBucket({ capacity: 100, drain: '1/s' }), leakyBucket({ capacity: 10, drain: '1/s' })]
    await version(large).check({ m: 'x' }, { cost: 80 })
    await version(small).charge({ m: 'x' }, { cost: 5 })
    expect((await version(large).peek({ m: 'x' })).levels[0].decision.remaining).toBe(15)
  })

  it('a debt is not forgiven because a limit that fills sooner took in the meantime', async () => {
    const slow = version(tokenBucket({ capacity: 1, refill: '1/10s' }))
    const fast = version(tokenBucket({ capacity: 1_000, refill: '10/s' }))
    await slow.charge({ m: 'x' }, { cost: 51 })
    const [before] = (await slow.peek({ m: 'x' })).levels
    expect(before.decision.resetAfterMs).toBe(510_000)
    await fast.check({ m: 'x' })
    own.clock.advance(300_000)
    expect((await slow.check({ m: 'x' })).allowed).toBe(false)
  })
})
