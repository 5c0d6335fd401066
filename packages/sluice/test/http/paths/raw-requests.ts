import { connect } from 'node:net'

export interface RawResponse {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends one request after another, each target as it is written, and hands over the responses. */
export async function rawRequests(
  port: number,
  method: string,
  targets: readonly string[],
  received: (target: string, response: RawResponse) => void,
): Promise<void> {
  let next = 0
  while (next < targets.length) {
    next = await onOneConnection(port, method, targets, next, received)
  }
}

/** Goes on until all is sent or the server closes, as it does after a target that Node.js refuses. */
function onOneConnection(
  port: number,
  method: string,
  targets: readonly string[],
  first: number,
  received: (target: string, response: RawResponse) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let next = first
    let text = ''
    const socket = connect(port, '127.0.0.1')
    const send = () => {
      socket.write(Buffer.from(`${method} ${targets[next]} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 'latin1'))
    }
    socket.setEncoding('latin1')
    socket.once('connect', send)
    socket.once('error', reject)
    socket.on('data', (chunk) => {
      text += chunk
      const response = responseIn(text, method)
      if (response === undefined) return
      text = ''
      received(targets[next++], response)
      const isLast = next === targets.length || /^connection: close/im.test(response.head)
      if (isLast) socket.destroy()
      else send()
    })
    socket.once('close', () => {
      // Closed without an answer: the target is refused.
      resolve(next === first ? next + 1 : next)
    })
  })
}

function responseIn(text: string, method: string): RawResponse | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = method === 'HEAD' ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
  const body = text.slice(end + 4)
  if (/^transfer-encoding: chunked/im.test(head) && method !== 'HEAD') {
    if (!body.endsWith('0\r\n\r\n')) return undefined
    return { status: statusIn(head), head, body: body.replace(/^[\da-f]+\r\n/i, '').replace(/\r\n0\r\n\r\n$/, '') }
  }
  return body.length < length ? undefined : { status: statusIn(head), head, body }
}

function statusIn(head: string): number {
  return Number(head.slice(9, 12))
}
