import { onTestFinished } from 'vitest'
import type { LiveEvents, LiveFrame } from '../../../service/src/live/live-events.js'

/** The frames that a service has sent from its start on. */
export interface FrameReader {
  readonly frames: readonly LiveFrame[]
  /** Resolves when the frames have so many decisions in all. */
  has(decisions: number): Promise<void>
}

/** Reads the stream of a service beside the page. */
export async function readFrames(url: string): Promise<FrameReader> {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  const { body } = await fetch(`${url}/v1/live`, { signal: ended.signal })
  if (body === null) throw new Error('the stream has no body')
  const frames: LiveFrame[] = []
  let hear = () => {}
  const take = (text: string) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(text) ?? []
    if (name === 'hello') frames.push(...(JSON.parse(data) as LiveEvents['hello']).seconds)
    if (name === 'frame') frames.push(JSON.parse(data) as LiveFrame)
    hear()
  }
  // It ends when the test or the service does.
  void readTexts(body, take).catch(() => {})
  return {
    frames,
    async has(decisions) {
      while (frames.reduce((sum, { allowed, denied }) => sum + allowed + denied, 0) < decisions)
        await new Promise<void>((resolve) => {
          hear = resolve
        })
    },
  }
}

async function readTexts(body: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    const texts = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = texts.pop() ?? ''
    for (const text of texts) take(text)
  }
}
