import { connect } from 'node:http2'
import type { RawResponse } from './raw-requests.js'

/**
 * Sends each target as it is written over one connection of HTTP/2, and hands over the responses. With a scheme that is
 * not `http` or `https`, servers take anything for a path.
 */
export async function http2Requests(
  port: number,
  targets: readonly string[],
  received: (target: string, response: RawResponse) => void,
): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`)
  try {
    for (const target of targets) {
      const stream = session.request({ ':method': 'POST', ':scheme': 'foo', ':path': target })
      let status = 0
      let head = ''
      let body = ''
      stream.on('response', (fields) => {
        status = Number(fields[':status'])
        head = `ratelimit-policy: ${fields['ratelimit-policy'] ?? ''}`
      })
      stream.setEncoding('latin1')
      stream.on('data', (chunk) => {
        body += chunk
      })
      // A target that is refused ends the stream, and perhaps with an error.
      stream.on('error', () => {})
      stream.end()
      await new Promise((resolve) => stream.once('close', resolve))
      received(target, { status, head, body })
    }
  } finally {
    session.destroy()
  }
}
