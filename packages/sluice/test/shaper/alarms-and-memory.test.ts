import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createShaper, memoryStore } from 'sluice'
import { describe, expect, it } from 'vitest'
import { AlarmedClock, advanceToEnd } from './moving-clocks.js'

describe('a shaper is light', () => {
  it.each(['of its own', 'on a store'])(
    'sets one alarm for all keys and waiters, and none when idle: %s',
    async (kind) => {
      const clock = new AlarmedClock()
      const numbers = { drain: '10/s', capacity: 50 } as const
      const shaper =
        kind === 'on a store'
          ? createShaper({ ...numbers, name: 'bank', store: memoryStore({ clock }) })
          : createShaper({ ...numbers, clock })
      let left = 0
      for (let i = 0; i < 500; i++)
        for (let n = 0; n < 5; n++)
          void shaper.wait({ key: `key:${i}`, maxWaitMs: 1_000 + i, priority: n - 2 }).then(() => left++)
      expect([clock.alarms, clock.mostAlarms]).toEqual([1, 1])
      await advanceToEnd(clock.manual)
      expect([left, clock.alarms, clock.mostAlarms, shaper.size]).toEqual([2_500, 0, 1, 0])
    },
  )

  it('keeps less than 100 bytes for a key that has left, and nothing for callers that waited', () => {
    const script = fileURLToPath(new URL('./keys-held.mjs', import.meta.url))
    const output = execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' })
    const { aKey, waiting, left, aWaiterLeft, alarm } = JSON.parse(output)
    expect(aKey).toBeGreaterThan(8)
    expect(aKey).toBeLessThan(100)
    expect({ waiting, left, alarm }).toEqual({ waiting: 100_000, left: 100_000, alarm: null })
    expect(aWaiterLeft).toBeLessThan(40)
  })
})
