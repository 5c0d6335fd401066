// Abuse of a server, kind by kind. Each function does one kind on connections of its own, and ends when the server has
// answered or dropped all of them.
import { once } from 'node:events'
import { connect } from 'node:net'

const CHECK = '{"attributes":{"ip":"192.0.2.1"}}'
const good = post(CHECK)

/** Writes bytes on a new connection. Resolves with everything that comes until it is closed, or until `isEnough`. */
async function exchange(port, bytes, isEnough = () => false) {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (data) => {
    text += data.toString('latin1', 0, 4_096)
    if (isEnough(text)) socket.resetAndDestroy()
  })
  await once(socket, 'connect')
  socket.write(bytes)
  if (!socket.destroyed) await once(socket, 'close')
  return text
}

function post(body, path = '/v1/check', fields = '') {
  return `POST ${path} HTTP/1.1\r\nHost: a\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

const answered = (text) => text.includes('\r\n\r\n')
const times = (count, once_) => Promise.all(Array.from({ length: count }, (_, i) => once_(i)))

export const abuses = {
  'bad JSON': (port) => times(10, () => exchange(port, post('{"attributes":'), answered)),
  'deep JSON': (port) =>
    times(2, () => exchange(port, post(`{"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`), answered)),
  'huge bodies': (port) => times(2, () => exchange(port, post('x'.repeat(2_000_000)), answered)),
  'a gigabyte announced': (port) =>
    times(5, () => exchange(port, 'POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n')),
  'header floods': (port) => times(5, () => exchange(port, `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(10_000)}\r\n`)),
  'request smuggling': (port) =>
    times(5, () =>
      exchange(
        port,
        `POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${good}`,
      ),
    ),
  'bad chunks': (port) =>
    times(5, () => exchange(port, 'POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')),
  'no HTTP': (port) => times(10, () => exchange(port, '\x16\x03\x01\x00\xa5\x01\x00')),
  pipelining: (port) =>
    times(5, () => exchange(port, good.repeat(100), (text) => text.split('HTTP/1.1 200').length > 5)),
  'clients that leave in the middle': (port) => times(20, (i) => leave(port, good.slice(0, 5 + 4 * i))),
  'clients that never read': (port) => times(2, () => neverRead(port)),
  'wrong paths and methods': (port) =>
    times(20, (i) =>
      exchange(port, `${['GET', 'PUT', 'HEAD', 'OPTIONS'][i % 4]} /v1/${i} HTTP/1.1\r\nHost: a\r\n\r\n`, answered),
    ),
}

async function leave(port, part) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  await new Promise((resolve) => socket.write(part, resolve))
  socket.resetAndDestroy()
}

/** Asks many times, reads nothing, and leaves when the server stops reading. */
async function neverRead(port) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  for (let i = 0; i < 50; i++) socket.write(good.repeat(100))
  await new Promise((resolve) => setTimeout(resolve, 100))
  socket.resetAndDestroy()
}

/** Opens connections that send nothing, calls `during`, and closes them. Returns how many were open. */
export async function withIdle(port, count, during) {
  const sockets = []
  for (let i = 0; i < count; i += 500)
    sockets.push(
      ...(await times(Math.min(500, count - i), async () => {
        const socket = connect(port, '127.0.0.1')
        socket.on('error', () => {})
        await once(socket, 'connect')
        return socket
      })),
    )
  await during()
  const open = sockets.filter((socket) => !socket.destroyed).length
  for (const socket of sockets) socket.resetAndDestroy()
  return open
}
