import { getEventListeners } from 'node:events'
import { ClosedError, createShaper, InvalidTypeError, memoryStore, QueueFullError, WaitTooLongError } from 'sluice'
import { type FetchRateOptions, shapedFetch } from 'sluice/http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { OtherSide, type Reply, turn } from './other-side.js'

const URL_TEXT = 'https://api.example.com/things'
const [TOO_MANY, UNAVAILABLE]: Reply[] = [{ status: 429 }, { status: 503 }]
const later = (status: number, seconds: number): Reply => ({ status, headers: { 'Retry-After': String(seconds) } })

let side: OtherSide
beforeEach(() => {
  side = new OtherSide()
})

/** Ten calls a second, and jitter as it is said: half of what there may be. */
function shaped(options: Partial<FetchRateOptions> = {}) {
  const { fetch, clock } = side
  return shapedFetch({ drain: '10/s', capacity: 100, fetch, clock, random: () => 0.5, ...options })
}

describe('turns', () => {
  it('leave at a constant rate, each host for itself', async () => {
    const call = shaped()
    const calls = ['a', 'b', 'a', 'b', 'a'].map((host) => call(`https://${host}.example`))
    expect(call.size).toBe(3)
    await side.during(Promise.all(calls))
    expect(side.times).toEqual([0, 0, 100, 100, 200])
    expect(call.size).toBe(0)
  })

  it('are those of the host, where it has a rate of its own', async () => {
    const call = shaped({ hosts: { 'slow.example:8080': { drain: '1/s' }, 'small.example': { capacity: 1 } } })
    const calls = [1, 2, 3].map(() => call('https://slow.example:8080/path'))
    await call('https://small.example')
    await expect(call('https://small.example')).rejects.toThrow(QueueFullError)
    await side.during(Promise.all(calls))
    expect(side.times).toEqual([0, 0, 1_000, 2_000])
  })

  it('are those of the host, with or without a dot at its end', async () => {
    const call = shaped({ hosts: { 'slow.example:8080': { drain: '1/s' }, 'slower.example.': { drain: '0.5/s' } } })
    const hosts = ['a.example', 'a.example.', 'slow.example:8080', 'slow.example.:8080', 'slower.example.']
    await side.during(Promise.all([...hosts, 'slower.example'].map((host) => call(`https://${host}`))))
    expect(side.seen.map(({ url, atMs }) => [url.host, atMs])).toEqual([
      ['a.example', 0],
      ['slow.example:8080', 0],
      ['slower.example.', 0],
      ['a.example.', 100],
      ['slow.example.:8080', 1_000],
      ['slower.example', 2_000],
    ])
  })

  it('are those of the key, which sees the request', async () => {
    const call = shaped({ keyOf: ({ headers }) => headers.get('authorization') ?? 'none' })
    const as = (authorization: string) => call(new Request(URL_TEXT, { headers: { authorization } }))
    await side.during(Promise.all(['one', 'two', 'one'].map(as)))
    expect(side.times).toEqual([0, 0, 100])
  })

  it('are shared with other users of the shaper or the store', async () => {
    const { fetch, clock } = side
    const shaper = createShaper({ drain: '10/s', capacity: 10, clock })
    const [one, two] = [shapedFetch({ shaper, fetch, clock }), shapedFetch({ shaper, fetch, clock })]
    await side.during(
      Promise.all([one(URL_TEXT), two(URL_TEXT), shaper.wait({ key: 'api.example.com' }), one(URL_TEXT)]),
    )
    expect(side.times).toEqual([0, 100, 300])

    side = new OtherSide()
    const store = memoryStore({ clock: side.clock })
    const stored = [1, 2].map(() =>
      shapedFetch({ drain: '10/s', capacity: 10, name: 'calls', store, fetch: side.fetch }),
    )
    await side.during(Promise.all([...stored, ...stored].map((call) => call(URL_TEXT))))
    expect(side.times).toEqual([0, 100, 200, 300])
  })

  it('are refused when too many wait, or for too long', async () => {
    const call = shaped({ capacity: 3, maxWaitMs: 150 })
    const calls = [call(URL_TEXT), call(URL_TEXT)]
    await expect(call(URL_TEXT)).rejects.toThrow(WaitTooLongError)
    const patient = shaped({ capacity: 2 })
    calls.push(patient(URL_TEXT), patient(URL_TEXT))
    await expect(patient(URL_TEXT)).rejects.toThrow(QueueFullError)
    await side.during(Promise.all(calls))
  })

  it('see a Request as it was when the call was made', async () => {
    const sent: (string | null)[] = []
    const fetch: typeof side.fetch = (...args) => {
      sent.push(new Request(...args).headers.get('x'))
      return side.fetch(...args)
    }
    const call = shaped({ fetch })
    const request = new Request(URL_TEXT, { headers: { x: '1' } })
    const calls = [call(request), call(request)]
    request.headers.set('x', '2')
    await side.during(Promise.all(calls))
    expect(sent).toEqual(['1', '1'])
  })

  it('are not used for a URL that contains its data', async () => {
    const call = shaped({ capacity: 1, fetch })
    const texts = [1, 2, 3].map(async (n) => (await call(`data:text/plain,${n}`)).text())
    expect(await Promise.all(texts)).toEqual(['1', '2', '3'])
    const request = new Request('data:text/plain,4', { method: 'POST', body: 'body' })
    expect(await (await call(request)).text()).toBe('4')
  })
})

describe('a server', () => {
  it('is left alone for as long as it asks and a little longer, by all waiting calls', async () => {
    side.replies = [later(429, 2)]
    const call = shaped()
    const responses = await side.during(Promise.all([call(URL_TEXT), call(URL_TEXT), call(URL_TEXT)]))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    const [first, ...others] = side.times
    expect(first).toBe(0)
    expect(others).toEqual([2_100, 2_200, 2_300])
  })

  it('may ask with a date', async () => {
    side.replies = [{ status: 503, headers: { 'Retry-After': new Date(side.clock.now() + 5_000).toUTCString() } }]
    await side.during(shaped()(URL_TEXT))
    expect(side.times).toEqual([0, 5_250])
  })

  it('is left alone when a quota is used up, though it did not refuse', async () => {
    side.replies = [{ headers: { RateLimit: '"burst";r=0;t=1' } }]
    const call = shaped()
    await call(URL_TEXT)
    await side.during(Promise.all([call(URL_TEXT), call('https://other.example')]))
    expect(side.seen.map(({ url, atMs }) => [url.host, atMs])).toEqual([
      ['api.example.com', 0],
      ['other.example', 0],
      ['api.example.com', 1_050],
    ])
  })

  it('is not waited for longer than longestRetryAfterMs, and the caller gets the response at once', async () => {
    side.replies = [later(429, 3_600)]
    const call = shaped({ longestRetryAfterMs: 10_000 })
    expect((await call(URL_TEXT)).status).toBe(429)
    await side.during(call(URL_TEXT))
    expect(side.times).toEqual([0, 10_500])
  })

  it('is not waited for longer than the caller would wait for a turn', async () => {
    side.replies = [later(429, 3)]
    const call = shaped({ maxWaitMs: 2_000 })
    expect((await call(URL_TEXT)).status).toBe(429)
    await expect(call(URL_TEXT)).rejects.toThrow(WaitTooLongError)
    expect(side.seen).toHaveLength(1)
  })

  it('is not waited for longer than that with its jitter, either', async () => {
    side.replies = [later(429, 2)]
    const call = shaped({ maxWaitMs: 2_000 })
    expect((await call(URL_TEXT)).status).toBe(429)
    expect(side.seen).toHaveLength(1)
  })

  it('that refuses without a wait is left alone for longer each time, until it answers', async () => {
    side.replies = [TOO_MANY, TOO_MANY, TOO_MANY, {}, TOO_MANY]
    const call = shaped({ drain: '1000/s', retries: 0, random: () => 1 })
    for (let i = 0; i < 6; i++) await side.during(call(URL_TEXT))
    const { times } = side
    const gaps = times.slice(1).map((time, i) => time - times[i])
    expect(gaps).toEqual([100, 200, 400, 1, 100])
  })

  it('that refuses many calls at once is left alone as if it had refused one', async () => {
    side.replies = Array.from({ length: 21 }, () => TOO_MANY)
    const { fetch } = side
    let answer = () => {}
    const answering = new Promise<void>((resolve) => {
      answer = resolve
    })
    const held: typeof fetch = async (...args) => {
      await answering
      return fetch(...args)
    }
    const call = shaped({ drain: '1000/s', retries: 0, random: () => 1, fetch: held })
    const calls = Array.from({ length: 20 }, () => call(URL_TEXT))
    for (let i = 0; i < 20; i++) {
      await turn()
      side.clock.advance(1)
    }
    answer()
    await Promise.all(calls)
    for (let i = 0; i < 2; i++) await side.during(call(URL_TEXT))
    const [last, ...after] = side.times.slice(19)
    expect(after.map((time) => time - last)).toEqual([100, 300])
  })
})

describe('retries', () => {
  it('wait longer each time, and end with the last response', async () => {
    side.otherwise = UNAVAILABLE
    const response = await side.during(shaped({ drain: '1000/s', random: () => 1 })(URL_TEXT))
    expect([response.status, await response.text()]).toEqual([503, 'reply 4'])
    expect(side.times).toEqual([0, 100, 300, 700])
  })

  it('end with the last network error', async () => {
    side.otherwise = 'unreachable'
    await expect(side.during(shaped()(URL_TEXT))).rejects.toThrow('fetch failed')
    expect(side.seen).toHaveLength(4)
  })

  it('cancel the body of a response that is retried', async () => {
    side.replies = [UNAVAILABLE, TOO_MANY]
    const response = await side.during(shaped()(URL_TEXT))
    expect(await response.text()).toBe('reply 3')
    for (const discarded of side.responses.slice(0, 2)) await expect(discarded.text()).rejects.toThrow()
  })

  it('take turns like any other call', async () => {
    side.replies = ['unreachable']
    const call = shaped({ random: () => 0 })
    await side.during(Promise.all([call(URL_TEXT), call(URL_TEXT), call(URL_TEXT)]))
    expect(side.times).toEqual([0, 100, 200, 300])
  })

  it.each([
    ['POST', UNAVAILABLE, 1],
    ['POST', 'unreachable', 1],
    ['POST', TOO_MANY, 4],
    ['PUT', UNAVAILABLE, 4],
    ['DELETE', { status: 502 }, 4],
    ['get', { status: 504 }, 4],
    ['GET', { status: 500 }, 1],
    ['GET', { status: 404 }, 1],
  ] as const)('%s that meets %o is made %i times', async (method, reply, times) => {
    side.otherwise = reply
    await side.during(shaped()(URL_TEXT, { method }).catch(() => {}))
    expect(side.seen).toHaveLength(times)
  })

  it('send the body again, as it was', async () => {
    side.replies = [TOO_MANY, TOO_MANY]
    const body = new TextEncoder().encode('body')
    const call = shaped()(URL_TEXT, { method: 'POST', body })
    body.fill(0)
    await side.during(call)
    const sent = await Promise.all(side.seen.map((each) => new Response(each.body as Uint8Array<ArrayBuffer>).text()))
    expect(sent).toEqual(['body', 'body', 'body'])
  })

  it('are not made of streams', async () => {
    side.otherwise = TOO_MANY
    const call = shaped()
    const body = new Blob(['body']).stream()
    expect((await call(URL_TEXT, { method: 'PUT', body, duplex: 'half' })).status).toBe(429)
    expect((await side.during(call(new Request(URL_TEXT, { method: 'PUT', body: 'body' })))).status).toBe(429)
    expect(side.seen).toHaveLength(2)
  })

  it('are not made for a call that cannot be sent', async () => {
    await expect(shaped()(URL_TEXT, { body: 'of a GET' })).rejects.toThrow(TypeError)
    await expect(shaped()('no url')).rejects.toThrow(TypeError)
    expect(side.seen).toHaveLength(0)
  })

  it('end when the budget is used up, and other hosts have their own', async () => {
    side.otherwise = UNAVAILABLE
    const call = shaped({ drain: '1000/s', capacity: 1_000, budget: { ratio: 0.1, least: 5 } })
    await side.during(Promise.all(Array.from({ length: 100 }, () => call(URL_TEXT))))
    expect(side.seen.length).toBeGreaterThanOrEqual(105)
    expect(side.seen.length).toBeLessThanOrEqual(115)
    side.seen.length = 0
    await side.during(call('https://other.example'))
    expect(side.seen).toHaveLength(4)
  })

  it('have their budget back after calls that went well', async () => {
    const call = shaped({ drain: '1000/s', budget: { ratio: 0.5, least: 1 } })
    const isRetried = async () => {
      side.replies = [UNAVAILABLE]
      return (await side.during(call(URL_TEXT))).status === 200
    }
    expect([await isRetried(), await isRetried()]).toEqual([true, false])
    await side.during(call(URL_TEXT))
    expect(await isRetried()).toBe(true)
  })

  it('are earned one by one by earlier calls if the budget begins with none', async () => {
    const call = shaped({ drain: '1000/s', budget: { ratio: 0.5, least: 0 }, retries: 1 })
    let refused = 0
    for (let i = 0; i < 100; i++) {
      const isTenth = (side.seen.length + 1) % 10 === 0
      if (isTenth) refused++
      side.replies = isTenth ? [UNAVAILABLE] : []
      expect((await side.during(call(URL_TEXT))).status).toBe(200)
    }
    expect(refused).toBeGreaterThan(9)
    expect(side.seen).toHaveLength(100 + refused)
  })
})

describe('random', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('is Math.random, unless there is another: waits are stretched by default', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.25)
    const { fetch, clock } = side
    const call = shapedFetch({ drain: '1000/s', capacity: 100, fetch, clock })
    side.replies = [later(429, 2), UNAVAILABLE]
    await side.during(call(URL_TEXT))
    // A quarter of the tenth that may be added, and of the 200 ms that the second retry may wait.
    expect(side.times).toEqual([0, 2_050, 2_100])
  })

  const fail = () => {
    throw new Error('no entropy')
  }

  it.each([
    ['not a number', () => Number.NaN],
    ['below 0', () => -1],
    ['above 1', () => 7],
    ['endless', () => Infinity],
    ['a text', () => 'half' as never],
    ['a bigint', () => 1n as never],
    ['nothing', () => undefined as never],
    ['an error', fail],
  ])('that gives %s loses no response, and waits as for 1', async (_what, random) => {
    const call = shaped({ drain: '1000/s', random })
    side.replies = [UNAVAILABLE, later(429, 1), TOO_MANY]
    expect((await side.during(call(URL_TEXT))).status).toBe(200)
    const { times } = side
    expect(times.slice(1).map((time, i) => time - times[i])).toEqual([100, 1_100, 400])
  })
})

describe('a signal', () => {
  const reason = new Error('enough')

  it('that was aborted before prevents the call', async () => {
    await expect(shaped()(URL_TEXT, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(side.seen).toHaveLength(0)
  })

  it.each([
    ['a controller', new AbortController()],
    ['a text', 'x'],
    ['false', false],
    ['half a signal', { aborted: false }],
  ])('that is %s is an error that says how to fix it, before any call', async (_what, signal) => {
    const call = shaped()
    const request = new Request(URL_TEXT, { method: 'PUT', body: 'text' })
    for (const input of [URL_TEXT, request, 'data:,text']) {
      const called = call(input, { signal: signal as never })
      await expect(called).rejects.toThrow('signal must be an AbortSignal such as AbortSignal.timeout(1000), got')
      await expect(called).rejects.toThrow(InvalidTypeError)
    }
    expect(await request.text()).toBe('text')
    expect([side.seen.length, call.size]).toEqual([0, 0])
  })

  it.each([null, undefined])('that is %s counts as absent', async (signal) => {
    expect((await shaped()(URL_TEXT, { signal } as RequestInit)).status).toBe(200)
  })

  it('may come from another library and have fewer methods', async () => {
    const { signal } = new AbortController()
    const { addEventListener, removeEventListener } = signal
    const other = {
      aborted: false,
      reason,
      addEventListener: addEventListener.bind(signal),
      removeEventListener: removeEventListener.bind(signal),
    }
    const fetch = async () => new Response('ok')
    expect((await shaped({ fetch })(URL_TEXT, { signal: other as never })).status).toBe(200)
    await expect(shaped({ fetch })(URL_TEXT, { signal: { ...other, aborted: true } as never })).rejects.toBe(reason)
  })

  it('ends the wait for a turn, and gives up the place', async () => {
    const call = shaped()
    const controller = new AbortController()
    const calls = [call(URL_TEXT), call(URL_TEXT, { signal: controller.signal }), call(URL_TEXT)]
    await turn()
    controller.abort(reason)
    await expect(calls[1]).rejects.toBe(reason)
    await side.during(Promise.all([calls[0], calls[2]]))
    expect(side.times).toEqual([0, 100])
  })

  it('ends the wait for a retry', async () => {
    side.otherwise = UNAVAILABLE
    const controller = new AbortController()
    const call = shaped()
    const waiting = call(new Request(URL_TEXT, { signal: controller.signal }))
    await turn()
    expect(call.size).toBe(1)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect([call.size, side.seen.length, side.clock.nextAlarmMs]).toEqual([0, 1, undefined])
  })

  it('ends the wait that the server asked for', async () => {
    side.replies = [later(429, 30)]
    const controller = new AbortController()
    const waiting = shaped()(URL_TEXT, { signal: controller.signal })
    await turn()
    side.clock.advance(10_000)
    await turn()
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(side.seen).toHaveLength(1)
  })

  it('that is aborted while the server answers is no network error', async () => {
    const controller = new AbortController()
    const call = shaped({ budget: { ratio: 0, least: 1 } })
    const waiting = call(URL_TEXT, { signal: controller.signal })
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(side.seen).toHaveLength(1)
    side.replies = [UNAVAILABLE]
    expect((await side.during(call(URL_TEXT))).status).toBe(200)
  })

  it('that many calls share keeps no listener of them', async () => {
    const { signal } = new AbortController()
    side.replies = [UNAVAILABLE, UNAVAILABLE]
    const call = shaped()
    const calls = [call(URL_TEXT, { signal }), call(URL_TEXT, { signal })]
    expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0)
    await side.during(Promise.all(calls))
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})

describe('close', () => {
  it('lets waiting calls and their retries leave, and rejects new calls', async () => {
    side.replies = [UNAVAILABLE, UNAVAILABLE]
    const call = shaped()
    const calls = [call(URL_TEXT), call(URL_TEXT)]
    const closed = call.close()
    await expect(call(URL_TEXT)).rejects.toThrow(ClosedError)
    await side.during(closed)
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200])
    await expect(call(URL_TEXT)).rejects.toThrow(ClosedError)
  })

  it("rejects waiting calls with waiting: 'reject'", async () => {
    side.replies = [{}, UNAVAILABLE]
    const call = shaped()
    const first = await call(URL_TEXT)
    const [retrying, waiting] = [call(URL_TEXT), call(URL_TEXT)]
    const outcomes = Promise.allSettled([retrying, waiting])
    side.clock.advance(100)
    await turn()
    await call.close({ waiting: 'reject' })
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: expect.any(ClosedError) })
    expect([first.status, side.seen.length, call.size, side.clock.nextAlarmMs]).toEqual([200, 2, 0, undefined])
  })

  it('lets calls under way finish, and does not retry them', async () => {
    side.otherwise = UNAVAILABLE
    const call = shaped()
    const response = call(URL_TEXT)
    await call.close({ waiting: 'reject' })
    expect((await response).status).toBe(503)
    expect(side.seen).toHaveLength(1)
  })

  it('leaves a shaper that others use alone', async () => {
    const { fetch, clock } = side
    const shaper = createShaper({ drain: '10/s', capacity: 10, clock })
    const call = shapedFetch({ shaper, fetch, clock })
    const waiting = Promise.allSettled([call(URL_TEXT), call(URL_TEXT)])
    await call.close({ waiting: 'reject' })
    expect((await waiting).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(await side.during(shaper.run(() => 'still open', { key: 'api.example.com' }))).toBe('still open')
  })

  it('names the allowed values of waiting', async () => {
    await expect(shaped().close({ waiting: 'drop' as never })).rejects.toThrow("waiting must be 'leave' or 'reject'")
  })
})
