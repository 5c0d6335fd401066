import { expect, it } from 'vitest'
import { createPolicy, fixedWindow, leakyBucket, type Verdict } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const day = (quota: number) => fixedWindow({ quota, window: '1d' })
const remaining = ({ levels }: Verdict) => levels.map(({ decision }) => decision.remaining)

onBothStores((own) => {
  const create = (shadowQuota: number) =>
    createPolicy({
      name: 'test',
      levels: [
        { name: 'real', limit: day(100) },
        { name: 'shadow', limit: day(shadowQuota), shadow: true },
      ],
      store: own.store,
    })

  it('a shadow that denied gets nothing back, for it has taken nothing', async () => {
    const policy = create(12)
    await policy.check({}, { cost: 10 })
    for (const give of ['cancel', 'settle'] as const) {
      const reservation = await policy.reserve({}, { cost: 5 })
      expect(reservation.verdict).toMatchObject({ allowed: true, levels: [{}, { decision: { allowed: false } }] })
      if (give === 'cancel') await reservation.cancel()
      else await reservation.settle(0)
      expect(remaining(await policy.peek({}))).toEqual([90, 2])
    }
  })

  it('a shadow that took gets back what it took', async () => {
    const policy = create(12)
    await (await policy.reserve({}, { cost: 10 })).settle(3)
    expect(remaining(await policy.peek({}))).toEqual([97, 9])
  })

  it('of a request that a real level denied, a shadow gets nothing back', async () => {
    const policy = create(200)
    await policy.check({}, { cost: 95 })
    const denied = await policy.reserve({}, { cost: 10 })
    expect(denied.verdict.deniedBy).toEqual(['real'])
    await denied.cancel()
    expect(remaining(await policy.peek({}))).toEqual([5, 105])
  })

  it('what was reserved in an earlier window is not given to the next', async () => {
    const policy = create(12)
    const reservation = await policy.reserve({}, { cost: 5 })
    own.clock.advance(86_400_000)
    await policy.check({}, { cost: 3 })
    await reservation.cancel()
    expect(remaining(await policy.peek({}))).toEqual([97, 9])
  })

  it('a queue takes a cancelled place back only from its end', async () => {
    const queue = leakyBucket({ capacity: 5, drain: '1/s' })
    const policy = createPolicy({ name: 'queue', levels: [{ name: 'all', limit: queue }], store: own.store })
    const first = await policy.reserve({})
    const second = await policy.reserve({})
    expect([first.verdict.delayMs, second.verdict.delayMs]).toEqual([0, 1_000])
    await first.cancel()
    expect(remaining(await policy.peek({}))).toEqual([3])
    await second.cancel()
    expect(remaining(await policy.peek({}))).toEqual([4])
    expect(await policy.check({})).toMatchObject({ delayMs: 1_000 })
  })
})
