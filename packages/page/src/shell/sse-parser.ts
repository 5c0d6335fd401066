/** Splits a stream of server-sent events into events: their names, and their data. Comments and ids are left out. */
export class SseParser {
  readonly #hear: (name: string, data: string) => void
  /** The begin of an event that has not ended. */
  #rest = ''

  /** Calls `hear` with each event as soon as it is whole. */
  constructor(hear: (name: string, data: string) => void) {
    this.#hear = hear
  }

  /** Takes the next piece of the stream, which may end anywhere. */
  take(piece: string): void {
    const events = (this.#rest + piece).split('\n\n')
    this.#rest = events.pop() ?? ''
    for (const event of events) this.#read(event)
  }

  #read(event: string): void {
    const lines = event.split('\n')
    const values = (field: string) =>
      lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).trimStart())
    const data = values('data')
    if (data.length > 0) this.#hear(values('event')[0] ?? 'message', data.join('\n'))
  }
}
