// The least that a JSON service on node:http can do: it parses the body and answers a constant of the usual size.
import { createServer } from 'node:http'

/** Listens on a free port, and returns it. */
export function startBare(answer) {
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(answer))]
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString())
      response.writeHead(200, headers)
      response.end(answer)
    })
  })
  // Connections wait while other servers have their turns.
  server.keepAliveTimeout = 65_000
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}
