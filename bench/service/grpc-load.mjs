// A cheap client for unary gRPC: raw sockets, frames that were built before, and one write for all answers of one read.
import { once } from 'node:events'
import { connect } from 'node:net'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7 }
const ACK = 1
const END_STREAM = 1
const END_HEADERS = 4
const HEAD_BYTES = 9
const LARGE_WINDOW = 2 ** 30
/** Fields that the client's HPACK table has after the first request, from the newest: their indexes begin at 62. */
const FIRST_DYNAMIC = 62
/** The beginning of every answer that is OK: the prefix of a message, and `overall_code: OK`. */
const OK = [0x08, 1]

function frame(type, flags, stream, payload = Buffer.alloc(0)) {
  const bytes = Buffer.alloc(HEAD_BYTES + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  payload.copy(bytes, HEAD_BYTES)
  return bytes
}

/** The header block of a call: in full, and as a client writes it again, as indexes of its table. */
function headerBlocks(path) {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': '127.0.0.1',
    te: 'trailers',
    'content-type': 'application/grpc',
    'grpc-timeout': '20m',
  }
  const texts = Object.entries(fields)
  const literal = (text) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
  const first = texts.map(([name, value]) => Buffer.concat([Buffer.from([0x40]), literal(name), literal(value)]))
  const again = texts.map((_, i) => 0x80 | (FIRST_DYNAMIC + texts.length - 1 - i))
  return { first: Buffer.concat(first), again: Buffer.from(again) }
}

/** The frames of a call, one buffer for each message, in which only the stream's number is missing. */
export function callFrames(path, messages) {
  const { first, again } = headerBlocks(path)
  const frames = (block, message) => {
    const prefix = Buffer.alloc(5)
    prefix.writeUInt32BE(message.length, 1)
    const head = frame(FRAME.headers, END_HEADERS, 0, block)
    return Buffer.concat([head, frame(FRAME.data, END_STREAM, 0, Buffer.concat([prefix, message]))])
  }
  return {
    first: messages.map((message) => frames(first, message)),
    again: messages.map((message) => frames(again, message)),
    headBytes: { first: HEAD_BYTES + first.length, again: HEAD_BYTES + again.length },
  }
}

/** One connection with a number of calls on their way. An answer that is not OK is an error. */
class GrpcConnection {
  #socket
  #calls
  #next
  #stream = 1
  #rest = Buffer.alloc(0)
  #answers = 0
  #endMs = 0
  #underWay = 0
  #done

  /** `calls`: what `callFrames` made. `next()` returns the number of the next message. */
  constructor(socket, calls, next) {
    this.#socket = socket
    this.#calls = calls
    this.#next = next
    socket.on('data', (part) => this.#read(part))
    socket.on('error', () => {})
    socket.on('close', () => this.#finish(new Error('the server has closed a connection')))
    const window = Buffer.alloc(4)
    window.writeUInt32BE(LARGE_WINDOW)
    socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), frame(8, 0, 0, window)]))
  }

  /** How many answers come within `ms`, if `streams` calls are always under way. */
  load(streams, ms) {
    return new Promise((resolve, reject) => {
      this.#done = (error) => (error === undefined ? resolve(this.#answers) : reject(error))
      this.#answers = 0
      this.#endMs = performance.now() + ms
      this.#send(streams)
    })
  }

  close() {
    this.#done = undefined
    this.#socket.destroy()
  }

  #send(count) {
    const frames = []
    for (let i = 0; i < count; i++) {
      const kind = this.#stream === 1 ? 'first' : 'again'
      const bytes = this.#calls[kind][this.#next()]
      bytes.writeUInt32BE(this.#stream, 5)
      bytes.writeUInt32BE(this.#stream, this.#calls.headBytes[kind] + 5)
      this.#stream += 2
      // Two calls of one read may be the same message: what is written now must not change.
      frames.push(Buffer.from(bytes))
    }
    this.#underWay += count
    this.#socket.write(frames.length === 1 ? frames[0] : Buffer.concat(frames))
  }

  #read(part) {
    const bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part])
    let at = 0
    let ended = 0
    while (bytes.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      if (this.#hear(bytes[at + 3], bytes[at + 4], bytes.subarray(at + HEAD_BYTES, end))) ended++
      at = end
    }
    this.#rest = bytes.subarray(at)
    this.#underWay -= ended
    this.#answers += ended
    if (ended === 0) return
    if (performance.now() < this.#endMs) this.#send(ended)
    else if (this.#underWay === 0) this.#finish()
  }

  /** Returns whether a call ended. */
  #hear(type, flags, payload) {
    if (type === FRAME.data && (payload[5] !== OK[0] || payload[6] !== OK[1]))
      this.#finish(new Error('an answer is not OK'))
    if (type === FRAME.reset || type === FRAME.goaway) this.#finish(new Error('the server has reset a call'))
    if (type === FRAME.settings && flags !== ACK) this.#socket.write(frame(FRAME.settings, ACK, 0))
    if (type === FRAME.ping && flags !== ACK) this.#socket.write(frame(FRAME.ping, ACK, 0, payload))
    return type === FRAME.headers && (flags & END_STREAM) !== 0
  }

  #finish(error) {
    const done = this.#done
    this.#done = undefined
    done?.(error)
  }
}

/** Opens connections to a server on this machine. */
export async function openGrpc(port, connections, calls, next) {
  const opened = Array.from({ length: connections }, async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new GrpcConnection(socket, calls, next)
  })
  return Promise.all(opened)
}
