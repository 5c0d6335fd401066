/** One server-sent event. */
export interface ServerEvent {
  readonly name: string
  readonly data: string
}

/** No line of a Sluice service is this long. A longer one is not kept in memory. */
const LONGEST_EVENT = 16 * 1024 * 1024

/** The events of a `text/event-stream`. Ends when the stream ends. Comments and events without data are left out. */
export async function* readEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop() as string
    if (rest.length > LONGEST_EVENT) throw new Error('an event of the stream is too long')
    for (const block of blocks) {
      const event = eventOf(block)
      if (event.data !== '') yield event
    }
  }
}

function eventOf(block: string): ServerEvent {
  const fields: Record<string, string> = {}
  for (const line of block.split(/\r?\n/)) {
    const match = /^(event|data): ?(.*)$/.exec(line)
    if (match === null) continue
    const [, name, value] = match
    fields[name] = name === 'data' && fields.data !== undefined ? `${fields.data}\n${value}` : value
  }
  return { name: fields.event ?? 'message', data: fields.data ?? '' }
}
