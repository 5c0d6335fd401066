import { createPolicy, fixedWindow, type Limit, memoryStore, tokenBucket } from 'sluice'
import { rateLimit as fetchLimit } from 'sluice/fetch'
import { Guard } from 'sluice/http'
import { describe, expect, it } from 'vitest'

const limit = (quota: number) => fixedWindow({ quota, window: '100d' })
const reader = { method: () => 'GET', url: () => '/', field: () => undefined }

describe('a limit that is a function of the request', () => {
  const remaining = async (guard: Guard<{ limit: unknown; key?: string }>, request: { limit: unknown; key?: string }) =>
    (await guard.enter(request))?.verdict.levels[0].decision.remaining

  it('keeps the state of a key whose numbers change, under one name on a shared store', async () => {
    const store = memoryStore()
    const guardOn = (name: string) =>
      new Guard<{ limit: unknown }>({ name, store, limit: (request) => request.limit as Limit, key: () => 'a' }, reader)
    const [one, same, other] = [guardOn('one'), guardOn('one'), guardOn('other')]
    expect(await remaining(one, { limit: limit(100) })).toBe(99)
    expect(await remaining(same, { limit: limit(1_000) })).toBe(998)
    expect(await remaining(other, { limit: limit(1_000) })).toBe(999)
    expect(await remaining(one, { limit: limit(10) })).toBe(7)
  })

  it('may be the same object with other numbers, as an object of a database may be', async () => {
    const guard = new Guard<{ limit: unknown }>({ limit: ({ limit }) => limit as Limit, key: () => 'a' }, reader)
    const row = { algorithm: 'fixed-window', quota: 10, window: '100d' }
    expect(await remaining(guard, { limit: row })).toBe(9)
    row.quota = 20
    expect(await remaining(guard, { limit: row })).toBe(18)
  })

  it('may be another one for each of thousands of clients', async () => {
    const guard = new Guard<{ limit: unknown; key?: string }>(
      { limit: ({ limit }) => limit as Limit, key: ({ key }) => key },
      reader,
    )
    for (const round of [1, 2])
      for (let i = 2; i < 2_502; i++) {
        const made = tokenBucket({ capacity: i, refill: '1/h' })
        if ((await remaining(guard, { limit: made, key: `user ${i}` })) !== i - round) expect.fail(`client ${i}`)
      }
  })

  it('needs a name with a store, and shows other mistakes at once', () => {
    const make = (options: object) => () => new Guard({ limit: () => limit(1), key: () => 'a', ...options }, reader)
    expect(make({ store: memoryStore() })).toThrow('name (which keeps limits on one store apart) must be')
    expect(make({ store: 'redis', name: 'a' })).toThrow('store must be a store such as memoryStore()')
    expect(make({ onFailure: 'open' })).toThrow('onFailure must be left out')
    const policy = createPolicy({ levels: [{ name: 'all', limit: limit(1) }] })
    expect(make({ policy })).toThrow('rateLimit takes a limit, a limiter or a policy, got limit and policy')
  })
})

it('an asynchronous option of a fetch handler still has the address of its own connection', async () => {
  const turns: (() => void)[] = []
  const limited = fetchLimit<[string]>({
    limit: limit(1),
    key: () => new Promise((resolve) => turns.push(() => resolve(undefined))),
    address: (_request, address) => address,
  })(() => new Response('ok'))
  const answers = ['192.0.2.1', '192.0.2.2', '192.0.2.1'].map((address) => limited(new Request('http://a/'), address))
  for (const turn of turns) turn()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 429])
})
