import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { LiveEvents, LiveFrame } from '../../src/live/live-events.js'
import { COUNTS_OF_A_LEVEL } from '../../src/live/live-events.js'

/** An event as it came. */
type LiveEvent = {
  [Name in keyof LiveEvents]: { readonly name: Name; readonly data: LiveEvents[Name] }
}[keyof LiveEvents]

/** A client of `GET /v1/live`, on a connection of its own. */
export class LiveClient {
  readonly response: IncomingMessage
  readonly events: LiveEvent[] = []
  readonly #chunks: string[] = []
  #rest = ''

  private constructor(response: IncomingMessage) {
    this.response = response
  }

  /** Opens a stream. `token` is that of an admin. */
  static async open(url: string, query = '', token?: string): Promise<LiveClient> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const sent = request(`${url}/v1/live${query}`, { headers, agent: false })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.on('error', () => {})
    onTestFinished(() => void response.destroy())
    return new LiveClient(response)
  }

  /** Everything that came. */
  get text(): string {
    return this.#chunks.join('')
  }

  get status(): number | undefined {
    return this.response.statusCode
  }

  /** Reads from now on. A client that never calls it reads nothing. */
  read(): this {
    this.response.setEncoding('utf8').on('data', (chunk: string) => {
      this.#chunks.push(chunk)
      const parts = (this.#rest + chunk).split('\n\n')
      this.#rest = parts.pop() ?? ''
      for (const part of parts) this.#hear(part)
      this.response.emit('heard')
    })
    return this
  }

  /** The first event of this name that `isWanted`. */
  async next<Name extends keyof LiveEvents>(
    name: Name,
    isWanted: (data: LiveEvents[Name]) => boolean = () => true,
  ): Promise<LiveEvents[Name]> {
    for (;;) {
      const found = this.all(name).find(isWanted)
      if (found !== undefined) return found
      await once(this.response, 'heard')
    }
  }

  all<Name extends keyof LiveEvents>(name: Name): readonly LiveEvents[Name][] {
    return this.events.filter((each) => each.name === name).map(({ data }) => data as LiveEvents[Name])
  }

  /** All frames of the history and since. */
  get frames(): readonly LiveFrame[] {
    return [...this.all('hello').flatMap(({ seconds }) => seconds), ...this.all('frame')]
  }

  #hear(part: string): void {
    const match = /^event: (\S+)\ndata: (.+)$/.exec(part.trim())
    if (match !== null) this.events.push({ name: match[1], data: JSON.parse(match[2]) } as LiveEvent)
  }
}

/** What frames count together: in all, and for each level. */
export function sumOf(frames: readonly LiveFrame[]) {
  const sum = (count: (frame: LiveFrame) => number) => frames.reduce((total, frame) => total + count(frame), 0)
  const size = Math.max(0, ...frames.map(({ levels }) => levels.length))
  const counts = Array.from({ length: size }, (_, i) => sum(({ levels }) => levels[i] ?? 0))
  return {
    allowed: sum(({ allowed }) => allowed),
    denied: sum(({ denied }) => denied),
    levels: Array.from({ length: size / COUNTS_OF_A_LEVEL }, (_, i) =>
      counts.slice(i * COUNTS_OF_A_LEVEL, (i + 1) * COUNTS_OF_A_LEVEL),
    ),
  }
}
