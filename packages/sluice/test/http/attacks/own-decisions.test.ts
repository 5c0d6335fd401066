import { createPolicy, fixedWindow, memoryStore, type Verdict } from 'sluice'
import { Guard, type GuardOptions, type Passage, parseRateLimit, type RequestReader } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import { limitedServer, waitingStore } from './limited-server.js'

const limit = fixedWindow({ quota: 5, window: '100d' })

const reader: RequestReader<object> = {
  method: () => 'GET',
  url: () => '/',
  remoteAddress: () => '192.0.2.1',
  field: () => undefined,
}

const level = { name: 'all', limit }

const textOf = ({ status, headers, body, verdict, delayMs }: Passage) =>
  JSON.stringify({ status, headers, body, verdict, delayMs })

describe('each request has its own decision', () => {
  const guards: [what: string, options: () => [GuardOptions<object>, open: () => void]][] = [
    ['a limit in memory', () => [{ limit }, () => {}]],
    ['a limit that holds', () => [{ limit, store: memoryStore(), name: 'all', settle: () => 1 }, () => {}]],
    ['a policy in memory', () => [{ policy: createPolicy({ levels: [level] }) }, () => {}]],
    [
      'a limit on a store that answers later',
      () => {
        const { store, open } = waitingStore()
        return [{ limit, store, name: 'all' }, open]
      },
    ],
    [
      'a policy on a store that answers later',
      () => {
        const { store, open } = waitingStore()
        return [{ policy: createPolicy({ name: 'p', store, levels: [level] }) }, open]
      },
    ],
  ]

  it.each(guards)('among ten at once under %s', async (_what, make) => {
    const [options, open] = make()
    const guard = new Guard(options, reader)
    const seen: string[] = []
    const entering = Array.from({ length: 10 }, async () => {
      const passage = (await guard.enter({})) as Passage
      seen.push(textOf(passage))
      return passage
    })
    open()
    const passages = await Promise.all(entering)
    expect(passages.map(({ verdict }) => verdict.allowed)).toEqual(Array.from({ length: 10 }, (_, i) => i < 5))
    expect(passages.map(({ verdict }) => verdict.levels[0].decision.remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0, 0, 0])
    // No passage has changed since it was made.
    expect(passages.map(textOf)).toEqual(seen)
    const parts = passages.flatMap(({ headers, verdict }) => [
      headers,
      verdict,
      verdict.levels,
      verdict.deniedBy,
      verdict.levels[0].decision,
    ])
    expect(new Set(parts).size).toBe(50)
  })

  it('also over sockets', async () => {
    const { store, open, asked } = waitingStore()
    const verdicts: Verdict[] = []
    const app = await limitedServer({
      limit,
      store,
      name: 'all',
      onDenied: (_request, response, verdict) => {
        verdicts.push(verdict)
        response.end()
      },
    })
    const fetching = Array.from({ length: 10 }, () => fetch(app.origin))
    await expect.poll(asked).toBe(10)
    open()
    const responses = await Promise.all(fetching)
    const remaining = responses.map(({ headers }) => parseRateLimit(headers).quotas[0].remaining)
    expect(remaining.sort()).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(new Set(verdicts).size).toBe(5)
  })

  it('a handler that changes its verdict changes nothing for the next request', async () => {
    const app = await limitedServer({
      limit: fixedWindow({ quota: 1, window: '100d' }),
      onDenied: (_request, response, verdict) => {
        try {
          Object.assign(verdict, { allowed: true })
          Object.assign(verdict.levels[0].decision, { allowed: true, remaining: 99 })
        } catch {
          // Frozen is fine too.
        }
        response.end()
      },
    })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await fetch(app.origin)).status)
    expect(statuses).toEqual([200, 429, 429, 429])
  })
})
