import { expect, it } from 'vitest'
import { createPolicy, fixedWindow } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const limit = fixedWindow({ quota: 5, window: '1d' })
const METHODS = ['check', 'peek', 'charge', 'refund', 'reset', 'reserve'] as const
const PAIRS = METHODS.flatMap((first) => METHODS.map((second) => ({ first, second })))

onBothStores((own) => {
  it.each(PAIRS)(
    '$first and then $second, called in one turn, are answered in that order',
    async ({ first, second }) => {
      const policies = ['at-once', 'after'].map((name) =>
        createPolicy({ name, levels: [{ name: 'm', key: 'm', limit }], store: own.store }),
      )
      for (const policy of policies) await policy.check({ m: 'a' }, { cost: 3 })
      const call = (policy: (typeof policies)[number], method: (typeof METHODS)[number], cost: number) =>
        method === 'peek' || method === 'reset'
          ? policy[method]({ m: 'a' })
          : policy[method as 'check']({ m: 'a' }, { cost })
      const [atOnce, after] = policies
      const together = await Promise.all([call(atOnce, first, 2), call(atOnce, second, 1)])
      const inTurn = [await call(after, first, 2), await call(after, second, 1)]
      const told = (answers: readonly unknown[]) => JSON.stringify(answers)
      expect(told(together)).toBe(told(inTurn))
      expect(await atOnce.peek({ m: 'a' })).toEqual(await after.peek({ m: 'a' }))
    },
  )
})
