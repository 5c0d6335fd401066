import { fixedWindow, memoryStore } from 'sluice'
import { describe, expect, it } from 'vitest'
import { limitedServer, statusOf } from './limited-server.js'

describe('a flood of addresses on a store that is full', () => {
  it.each(['share', 'deny'] as const)('does not give an abuser a new quota (%s)', async (onFull) => {
    const store = memoryStore({ maxKeys: 32, onFull })
    const app = await limitedServer({
      limit: fixedWindow({ quota: 3, window: '1d', align: 'first' }),
      name: 'flooded',
      store,
      trustedProxies: ['127.0.0.1'],
    })
    const from = (address: string) => statusOf(app, { 'x-forwarded-for': address })
    const abuser = '192.0.2.66'
    expect([await from(abuser), await from(abuser), await from(abuser), await from(abuser)]).toEqual([
      200, 200, 200, 429,
    ])
    for (let i = 0; i < 160; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, j) => from(`198.51.${(i + j) >> 8}.${(i + j) & 255}`)))
      expect(await from(abuser)).toBe(429)
    }
    const { keys, shared, refused } = store.stats()
    expect(keys).toBeLessThanOrEqual(32)
    expect(shared + refused).toBeGreaterThan(100)
  })
})
