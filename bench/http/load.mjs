import { once } from 'node:events'
import { connect } from 'node:net'

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const STATUS_LINE = Buffer.from('HTTP/1.1 ')
const OK = Buffer.from('HTTP/1.1 200 ')
/** A status line may come in two pieces. */
const KEPT = OK.length - 1

/** Opens connections, each from its own client address. Each has `pipelined` requests on their way at a time. */
export async function openConnections(port, { connections, pipelined }) {
  const batch = REQUEST.repeat(pipelined)
  const sockets = Array.from({ length: connections }, async (_, i) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${i + 1}` })
    socket.setNoDelay()
    await once(socket, 'connect')
    return socket
  })
  return { sockets: await Promise.all(sockets), batch, pipelined }
}

/**
 * How many answers come within `ms`. A connection sends its next batch as soon as it has all answers of the last one. The
 * client does little more than count, so that the server is the bottleneck. An answer other than 200 is an error.
 *
 * The client never sleeps. A server that writes to a sleeping process must wake a processor, which takes as long as half
 * a request; a server whose clients are on other machines does not do that work.
 */
export async function load({ sockets, batch, pipelined }, ms) {
  const endMs = performance.now() + ms
  let answers = 0
  let isOver = false
  const stayAwake = () => isOver || setImmediate(stayAwake)
  stayAwake()
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve, reject) => {
          let open = pipelined
          let rest = Buffer.alloc(0)
          const onData = (chunk) => {
            const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
            const [count, end] = countOf(data)
            if (count < 0) {
              reject(new Error(`an unexpected answer: ${data.latin1Slice(0, 200)}`))
              return
            }
            rest = data.subarray(Math.max(end, data.length - KEPT))
            answers += count
            open -= count
            if (open > 0) return
            if (performance.now() < endMs) {
              open = pipelined
              socket.write(batch)
            } else {
              socket.off('data', onData)
              socket.off('close', onClose)
              resolve()
            }
          }
          const onClose = () => reject(new Error('the server has closed a connection'))
          socket.on('data', onData)
          socket.once('close', onClose)
          if (socket.destroyed) onClose()
          socket.write(batch)
        }),
    ),
  )
  isOver = true
  return answers
}

/** How many answers begin in the data, and where the last status line ends; -1 if one is not a 200. */
function countOf(data) {
  let count = 0
  let end = 0
  for (let at = data.indexOf(STATUS_LINE); at >= 0; at = data.indexOf(STATUS_LINE, end)) {
    if (at + OK.length > data.length) return [count, at]
    if (data.compare(OK, 0, OK.length, at, at + OK.length) !== 0) return [-1, 0]
    count++
    end = at + OK.length
  }
  return [count, end]
}
