import { expect, it } from 'vitest'
import { createPolicy, fixedWindow, type Level, tokenBucket } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

onBothStores((own) => {
  it('a request may have to pass hundreds of levels, and is still all or nothing', async () => {
    const levels = Array.from({ length: 300 }, (_, i): Level => {
      const limit =
        i % 2 === 0 ? tokenBucket({ capacity: 5 + i, refill: '1/h' }) : fixedWindow({ quota: 5 + i, window: '1d' })
      return { name: `level-${i}`, key: 'user', limit, shadow: i % 7 === 6 }
    })
    const policy = createPolicy({ name: 'api', levels: levels.toReversed(), store: own.store })
    for (let i = 0; i < 5; i++) expect((await policy.check({ user: 'u' })).allowed).toBe(true)
    const denied = await policy.check({ user: 'u' })
    expect(denied).toMatchObject({ allowed: false, deniedBy: ['level-0'] })
    const { levels: peeked } = await policy.peek({ user: 'u' })
    expect(peeked.map(({ decision }) => decision.remaining)).toEqual(levels.map((_, i) => i).toReversed())
    expect(denied.degraded).toBeUndefined()
  })
})
