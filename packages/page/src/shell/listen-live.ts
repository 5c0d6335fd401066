import type { LiveEvents } from '../../../service/src/live/live-events.js'
import { tokenFields } from './ask.js'
import { SseParser } from './sse-parser.js'

/** What hears of the events of `GET /v1/live`. */
export interface LiveListener {
  hear<Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name]): void
  /** The stream has ended or cannot be opened. It is opened again on its own. */
  lose?(): void
}

const AGAIN_MS = 2_000

/**
 * Listens to the service until the returned function is called, and opens the stream again when it ends. `fetch` reads it, because
 * `EventSource` cannot send the admin token.
 */
export function listenLive(listener: LiveListener): () => void {
  const ended = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const open = async () => {
    try {
      await readLive(listener, ended.signal)
    } catch {
      // A stream that breaks is like one that ends.
    }
    if (ended.signal.aborted) return
    listener.lose?.()
    timer = setTimeout(open, AGAIN_MS)
  }
  void open()
  return () => {
    ended.abort()
    clearTimeout(timer)
  }
}

async function readLive(listener: LiveListener, signal: AbortSignal): Promise<void> {
  const response = await fetch('/v1/live', { headers: tokenFields(), signal })
  if (!response.ok || response.body === null) return
  const parser = new SseParser((name, data) => listener.hear(name as keyof LiveEvents, JSON.parse(data)))
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    parser.take(decoder.decode(value, { stream: true }))
  }
}
