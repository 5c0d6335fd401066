import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends requests on one connection without waiting for answers, and gives the statuses in the order of the answers. */
export async function pipelined(port: number, count: number, path = '/ok'): Promise<number[]> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const head = (last: boolean) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${last ? 'Connection: close\r\n' : ''}\r\n`
  socket.write(Array.from({ length: count }, (_, i) => head(i === count - 1)).join(''))
  let text = ''
  for await (const chunk of socket) text += chunk
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
}
