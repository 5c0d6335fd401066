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
/** Calls of one connection that wait for their answers. A server may refuse more. */
const MOST_UNDER_WAY = 900
/** A power of 2 above the number of calls under way. */
const SLOTS = 1 << 12

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
    // Longer than Envoy's 20 ms: a machine that pauses makes calls late, and late calls are not what is measured.
    'grpc-timeout': '1S',
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

/** One connection. An answer that is not OK is an error. */
class GrpcConnection {
  underWay = 0
  #socket
  #calls
  #next
  #stream = 1
  #rest = Buffer.alloc(0)
  #hasMessage = new Uint8Array(SLOTS)
  #dueMs = new Float64Array(SLOTS)
  #heard

  /** `calls`: what `callFrames` made. `next()` returns the number of the next message. */
  constructor(socket, calls, next) {
    this.#socket = socket
    this.#calls = calls
    this.#next = next
    socket.on('data', (part) => this.#read(part))
    socket.on('error', () => {})
    socket.on('close', () => this.#heard?.failed(new Error('the server has closed a connection')))
    const window = Buffer.alloc(4)
    window.writeUInt32BE(LARGE_WINDOW)
    socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), frame(8, 0, 0, window)]))
  }

  /** From now on, `ended(dueMs)` hears of each answer, `read(connection, count)` of the answers of one read, and `failed(error)`. */
  tell(heard) {
    this.#heard = heard
  }

  /** A load that goes on fails. */
  close() {
    this.#heard?.failed(new Error('the connection was closed under load'))
    this.#heard = undefined
    this.#socket.destroy()
  }

  /** Sends so many calls in one write. */
  send(count, dueMs = 0) {
    const frames = []
    for (let i = 0; i < count; i++) {
      const kind = this.#stream === 1 ? 'first' : 'again'
      const bytes = this.#calls[kind][this.#next()]
      bytes.writeUInt32BE(this.#stream, 5)
      bytes.writeUInt32BE(this.#stream, this.#calls.headBytes[kind] + 5)
      this.#dueMs[slotOf(this.#stream)] = dueMs
      this.#stream += 2
      // Two calls of one read may be the same message: what is written now must not change.
      frames.push(Buffer.from(bytes))
    }
    this.underWay += count
    this.#socket.write(frames.length === 1 ? frames[0] : Buffer.concat(frames))
  }

  #read(part) {
    const bytes = this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part])
    let at = 0
    let ended = 0
    while (bytes.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      if (this.#hear(bytes[at + 3], bytes[at + 4], bytes.readUInt32BE(at + 5), bytes.subarray(at + HEAD_BYTES, end)))
        ended++
      at = end
    }
    this.#rest = bytes.subarray(at)
    this.underWay -= ended
    if (ended > 0) this.#heard?.read(this, ended)
  }

  /** Returns whether a call ended. */
  #hear(type, flags, stream, payload) {
    if (type === FRAME.data) {
      if (payload[5] !== OK[0] || payload[6] !== OK[1]) this.#heard?.failed(new Error('an answer is not OK'))
      this.#hasMessage[slotOf(stream)] = 1
    }
    if (type === FRAME.reset || type === FRAME.goaway)
      this.#heard?.failed(new Error('the server has reset a call, or its connection'))
    if (type === FRAME.settings && flags !== ACK) this.#socket.write(frame(FRAME.settings, ACK, 0))
    if (type === FRAME.ping && flags !== ACK) this.#socket.write(frame(FRAME.ping, ACK, 0, payload))
    const isEnd = type === FRAME.headers && (flags & END_STREAM) !== 0
    if (isEnd) this.#end(slotOf(stream))
    return isEnd
  }

  #end(slot) {
    if (this.#hasMessage[slot] === 0) this.#heard?.failed(new Error('an answer has no message'))
    this.#hasMessage[slot] = 0
    this.#heard?.ended(this.#dueMs[slot])
  }
}

function slotOf(stream) {
  return (stream >>> 1) % SLOTS
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

/** How many answers come if each connection has `streams` calls under way for `ms`. */
export function loadFully(opened, streams, ms) {
  return new Promise((resolve, failed) => {
    const endMs = performance.now() + ms
    let answers = 0
    let underWay = 0
    const send = (connection, count) => {
      underWay += count
      connection.send(count)
    }
    const read = (connection, count) => {
      answers += count
      underWay -= count
      if (performance.now() < endMs) send(connection, count)
      else if (underWay === 0) resolve(answers)
    }
    for (const connection of opened) connection.tell({ ended() {}, read, failed })
    for (const connection of opened) send(connection, streams)
  })
}

/**
 * Calls leave one by one at a constant rate. A latency counts from the time at which the call should have left: also while this
 * process is late, or so many calls are under way that it waits. Returns the latencies, sorted, and the rate of the answers.
 * `nowMs` is the clock of the latencies and the rate.
 */
export function loadAtRate(opened, perSecond, ms, nowMs = () => performance.now()) {
  const total = Math.floor((perSecond * ms) / 1_000)
  const latencies = new Float64Array(total)
  return new Promise((resolve, reject) => {
    let isFailed = false
    const failed = (error) => {
      isFailed = true
      reject(error)
    }
    let ended = 0
    const hear = (dueMs) => {
      latencies[ended++] = nowMs() - dueMs
    }
    for (const connection of opened) connection.tell({ ended: hear, read() {}, failed })
    const beganMs = nowMs()
    let sent = 0
    const turn = () => {
      const dueNow = Math.min(total, ((nowMs() - beganMs) * perSecond) / 1_000)
      while (sent < dueNow) {
        const connection = opened[sent % opened.length]
        if (connection.underWay >= MOST_UNDER_WAY) break
        connection.send(1, beganMs + (sent++ * 1_000) / perSecond)
      }
      if (isFailed) return
      if (ended < total) setImmediate(turn)
      else resolve({ latencies: latencies.sort(), perSecond: (total * 1_000) / (nowMs() - beganMs) })
    }
    turn()
  })
}
