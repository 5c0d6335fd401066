// The clients and the application on both sides of Envoy.
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'

/** An application that answers everything; a request names the fields of its answer in `x-answer`, as JSON. */
export async function startApplication() {
  const server = createServer((incoming, response) => {
    incoming.resume()
    const wanted = incoming.headers['x-answer']
    response.writeHead(200, wanted === undefined ? {} : JSON.parse(wanted)).end('hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 })
export const endTraffic = () => agent.destroy()

/** Asks Envoy: the status, header fields and text of its answer. `from` is the client's address. */
export function ask(port, { method = 'GET', path = '/', headers = {}, from = '127.0.0.1', signal } = {}) {
  const options = { host: '127.0.0.1', port, method, path, headers, localAddress: from, agent, signal }
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }))
      response.on('error', reject)
    })
    outgoing.on('error', reject).end()
  })
}

/** Asks as often, one request after the other: the statuses. */
export async function statuses(port, times, options) {
  const all = []
  for (let i = 0; i < times; i++) all.push((await ask(port, options)).status)
  return all
}
