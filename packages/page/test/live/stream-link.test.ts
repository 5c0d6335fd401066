import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type LinkState, type LiveEvent, StreamLink } from '../../src/live/stream-link.js'
import { helloOf } from './live-frames.js'

const hello = `event: hello\ndata: ${JSON.stringify(helloOf())}\n\n`
const encoder = new TextEncoder()

/** A service whose answers the test gives, one by one. */
function startLink(hear: (event: LiveEvent) => void = () => {}) {
  const asked: {
    fields: Record<string, string>
    signal: AbortSignal
    answer: (response: Response) => void
    fail: () => void
  }[] = []
  const events: LiveEvent[] = []
  const states: LinkState[] = []
  const fields: Record<string, string> = {}
  const link = new StreamLink({
    fields: () => ({ ...fields }),
    onEvent: (event) => {
      hear(event)
      events.push(event)
    },
    onState: (state) => states.push(state),
    request: (_path, { headers, signal }) =>
      new Promise((answer, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
        asked.push({
          fields: headers as Record<string, string>,
          signal: signal as AbortSignal,
          answer,
          fail: () => reject(new TypeError()),
        })
      }),
  })
  link.start()
  return { link, asked, events, states, fields }
}

/** An answer that the test writes to. */
function openStream() {
  let writer!: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      writer = controller
    },
  })
  return {
    response: new Response(body),
    write: (text: string) => writer.enqueue(encoder.encode(text)),
    end: () => writer.close(),
    break: () => writer.error(new Error('reset')),
  }
}

const settled = () => vi.advanceTimersByTimeAsync(0)

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('StreamLink', () => {
  it('passes events on, and is live after the first one', async () => {
    const { asked, events, states, link } = startLink()
    const stream = openStream()
    asked[0].answer(stream.response)
    stream.write(hello.slice(0, 20))
    await settled()
    expect(states).toEqual([{ kind: 'connecting' }])
    stream.write(hello.slice(20))
    await settled()
    expect(events).toEqual([{ name: 'hello', data: helloOf() }])
    expect(states.at(-1)).toEqual({ kind: 'live' })
    link.close()
  })

  it.each([
    ['keys', 'live'],
    ['end', 'connecting'],
  ])('a stream may begin with any event: after %s it is %s', async (name, kind) => {
    const { asked, states, link } = startLink()
    const stream = openStream()
    asked[0].answer(stream.response)
    stream.write(`event: ${name}\ndata: {"reason":""}\n\n`)
    await settled()
    expect(states.at(-1)).toEqual({ kind })
    link.close()
  })

  it('waits longer after each loss, up to fifteen seconds, and begins anew after a hello', async () => {
    const { asked, states, link } = startLink()
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]) {
      const before = Date.now()
      asked[asked.length - 1].answer(Response.error())
      await settled()
      expect(states.at(-1)).toMatchObject({ kind: 'lost', retryAtMs: before + waitMs })
      const tries = asked.length
      await vi.advanceTimersByTimeAsync(waitMs - 1)
      expect(asked).toHaveLength(tries)
      await vi.advanceTimersByTimeAsync(1)
      expect(asked).toHaveLength(tries + 1)
      // It stays lost while it tries, until the service answers.
      expect(states.at(-1)).toMatchObject({ kind: 'lost' })
    }
    const stream = openStream()
    asked[asked.length - 1].answer(stream.response)
    stream.write(hello)
    await settled()
    stream.break()
    await settled()
    expect(states.at(-1)).toMatchObject({
      kind: 'lost',
      why: 'The connection was lost.',
      retryAtMs: Date.now() + 1_000,
    })
    link.close()
  })

  it('says why the service ended the stream, and comes back', async () => {
    const { asked, states, link } = startLink()
    const stream = openStream()
    asked[0].answer(stream.response)
    stream.write(`${hello}event: end\ndata: {"reason":"it shuts down"}\n\n`)
    stream.end()
    await settled()
    expect(states.at(-1)).toMatchObject({ kind: 'lost', why: 'The service has stopped: it shuts down.' })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(asked).toHaveLength(2)
    asked[1].fail()
    await settled()
    expect(states.at(-1)).toMatchObject({ kind: 'lost', why: 'The service has stopped: it shuts down.' })
    link.close()
  })

  it('gives up a stream that is silent', async () => {
    const { asked, states, link } = startLink()
    const stream = openStream()
    asked[0].answer(stream.response)
    stream.write(hello)
    await vi.advanceTimersByTimeAsync(9_999)
    stream.write(': still here\n')
    await vi.advanceTimersByTimeAsync(9_999)
    expect(states.at(-1)).toEqual({ kind: 'live' })
    await vi.advanceTimersByTimeAsync(1)
    stream.break()
    await settled()
    expect(states.at(-1)).toMatchObject({ kind: 'lost' })
    link.close()
  })

  it('gives up an answer that does not come', async () => {
    const { states, link } = startLink()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(states.at(-1)).toMatchObject({ kind: 'lost', why: 'The service does not answer. Is it running?' })
    link.close()
  })

  it.each(['event: frame\ndata: {"atMs":\n\n', 'event: store\ndata: null\n\n'])(
    'waits longer each time that it cannot read an event, though the service says hello: %j',
    async (bad) => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const { asked, states, link } = startLink((event) => {
        if (event.data === null) throw new TypeError('it has no kind')
      })
      for (const waitMs of [1_000, 2_000, 4_000, 8_000, 15_000]) {
        const stream = openStream()
        asked[asked.length - 1].answer(stream.response)
        stream.write(hello + bad)
        await settled()
        expect(states.at(-1)).toMatchObject({
          kind: 'lost',
          why: expect.stringContaining('Reload the page'),
          retryAtMs: Date.now() + waitMs,
        })
        await vi.advanceTimersByTimeAsync(waitMs)
        expect(asked.at(-2)?.signal.aborted).toBe(true)
      }
      link.close()
    },
  )

  it('waits for another token if the service refuses this one', async () => {
    const { asked, states, link, fields } = startLink()
    asked[0].answer(Response.json({ detail: 'the token is wrong' }, { status: 401 }))
    await settled()
    expect(states.at(-1)).toEqual({ kind: 'refused', why: 'The token is wrong.' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked).toHaveLength(1)
    fields.authorization = 'Bearer other'
    link.start()
    expect(asked[1].fields).toEqual({ authorization: 'Bearer other' })
    link.close()
  })

  it('asks no more after close, and a new start ends the former stream', async () => {
    const { asked, events, link } = startLink()
    const stream = openStream()
    asked[0].answer(stream.response)
    stream.write(hello)
    await settled()
    link.start()
    expect(asked[0].signal.aborted).toBe(true)
    stream.write(hello)
    await settled()
    expect(events).toHaveLength(1)
    link.close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked).toHaveLength(2)
  })
})
