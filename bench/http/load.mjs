import { once } from 'node:events'
import { connect } from 'node:net'

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const END_OF_HEAD = '\r\n\r\n'

/** Connections that each ask again as soon as they have their answer. */
export async function openConnections(port, count) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay()
      await once(socket, 'connect')
      return socket
    }),
  )
}

/** How many answers came within so long. An answer that is not a 200 is an error. */
export async function load(sockets, ms) {
  const endMs = performance.now() + ms
  let answers = 0
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve, reject) => {
          let text = ''
          const onData = (chunk) => {
            text += chunk.latin1Slice()
            const head = text.indexOf(END_OF_HEAD)
            if (head < 0) return
            const [, length] = /content-length: (\d+)/i.exec(text) ?? []
            if (length === undefined || !text.startsWith('HTTP/1.1 200')) {
              reject(new Error(`a strange answer: ${text.slice(0, 200)}`))
              return
            }
            if (text.length < head + END_OF_HEAD.length + Number(length)) return
            text = ''
            answers++
            if (performance.now() < endMs) socket.write(REQUEST)
            else {
              socket.off('data', onData)
              resolve()
            }
          }
          socket.on('data', onData)
          socket.write(REQUEST)
        }),
    ),
  )
  return answers
}
