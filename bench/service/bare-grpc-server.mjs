// The least that a gRPC service on the stream API of node:http2 can do: it reads the message and answers a constant.
import { createServer } from 'node:http2'

const HEAD = { ':status': 200, 'content-type': 'application/grpc' }
const TRAILERS = { 'grpc-status': '0' }

/** Listens on a free port, and returns it. `answer` is a message in base64. */
export function startBareGrpc(answer) {
  const message = Buffer.from(answer, 'base64')
  const body = Buffer.concat([Buffer.alloc(5), message])
  body.writeUInt32BE(message.length, 1)
  const server = createServer()
  server.on('stream', (stream) => {
    stream.on('data', () => {})
    stream.on('end', () => {
      stream.respond(HEAD, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers(TRAILERS))
      stream.end(body)
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}
