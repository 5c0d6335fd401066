import { expect, it } from 'vitest'
import { createPolicy, tokenBucket } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const small = tokenBucket({ capacity: 10, refill: '1/h' })
const large = tokenBucket({ capacity: 1_000, refill: '1000/s' })

onBothStores((own) => {
  it('a unit that is given back under a smaller capacity than the state has is one unit at most', async () => {
    const policy = createPolicy({ name: 'api', levels: [{ name: 'm', key: 'm', limit: large }], store: own.store })
    await policy.override('m', 'x', small)
    const reservation = await policy.reserve({ m: 'x' })
    await policy.removeOverride('m', 'x')
    own.clock.advance(1_000)
    const { levels } = await policy.check({ m: 'x' }, { cost: 600 })
    expect(levels[0].decision.remaining).toBe(400)
    await reservation.cancel()
    // Got 1,000 in Redis, where the key was deleted as whole, and 10 in memory, where the rest was cut off.
    expect((await policy.peek({ m: 'x' })).levels[0].decision.remaining).toBeGreaterThanOrEqual(400)
    expect((await policy.peek({ m: 'x' })).levels[0].decision.remaining).toBeLessThanOrEqual(401)
  })

  it('nor does the refund of a version with a smaller capacity refill what another has taken', async () => {
    const [one, two] = [small, large].map((limit) =>
      createPolicy({ name: 'api', levels: [{ name: 'm', key: 'm', limit }], store: own.store }),
    )
    await two.check({ m: 'x' }, { cost: 600 })
    await one.refund({ m: 'x' })
    const { remaining } = (await two.peek({ m: 'x' })).levels[0].decision
    expect([400, 401]).toContain(remaining)
  })
})
