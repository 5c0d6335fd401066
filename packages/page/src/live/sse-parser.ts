/** One event of a stream of server-sent events. */
export interface StreamEvent {
  readonly name: string
  readonly data: string
}

/**
 * Cuts a stream of server-sent events into events. The text may come in pieces that end anywhere, also inside of a CRLF. The
 * fields `id` and `retry` and comments are skipped: a client of this service needs none of them.
 */
export class SseParser {
  /** The pieces of a line whose end has not come. They are joined once, because the first event may have megabytes. */
  #line: string[] = []
  #endedInReturn = false
  #name = ''
  #data: string[] = []

  /** The events that this piece of text completes. */
  push(text: string): StreamEvent[] {
    if (text === '') return []
    const events: StreamEvent[] = []
    const lineEnd = /\r\n?|\n/g
    let from = this.#endedInReturn && text[0] === '\n' ? 1 : 0
    lineEnd.lastIndex = from
    for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
      this.#line.push(text.slice(from, end.index))
      from = lineEnd.lastIndex
      const event = this.#read(this.#line.join(''))
      this.#line = []
      if (event !== undefined) events.push(event)
    }
    if (from < text.length) this.#line.push(text.slice(from))
    this.#endedInReturn = text.endsWith('\r')
    return events
  }

  /** An empty line ends an event. An event without data is none. */
  #read(line: string): StreamEvent | undefined {
    if (line !== '') {
      this.#readField(line)
      return undefined
    }
    const event = { name: this.#name === '' ? 'message' : this.#name, data: this.#data.join('\n') }
    const isEvent = this.#data.length > 0
    this.#name = ''
    this.#data = []
    return isEvent ? event : undefined
  }

  #readField(line: string): void {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) as RegExpExecArray
    if (field === 'event') this.#name = value
    else if (field === 'data') this.#data.push(value)
  }
}
