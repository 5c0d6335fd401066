// A cheap client for unary calls: raw sockets, and calls that were built before. It counts answers by their last frame, and
// reads nothing else of them but a status that is not 0. A message `{ port, calls }` asks for calls as fast as they are answered,
// `{ port, perSecond, ms }` for calls at a constant rate.
import { once } from 'node:events'
import { connect } from 'node:net'
import { quantile } from '../statistics.mjs'
import { FIRST_FRAMES, firstCall, frame, nextCall, setStream } from './unary-call.mjs'

const CONNECTIONS = 4
const STREAMS = 16
const SETTINGS = 4
const HEADERS = 1
const RST_STREAM = 3
const GOAWAY = 7
const first = firstCall()
const next = nextCall()

class Connection {
  inFlight = 0
  #socket
  #rest = Buffer.alloc(0)
  #streamId = 1
  #answered
  /** When each call should have left, by stream. */
  #dueMs = new Float64Array(1 << 16)

  /** `answered(calls, dueMs)` is called after each read. */
  constructor(socket, answered) {
    this.#socket = socket
    this.#answered = answered
    socket.write(FIRST_FRAMES)
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', () => {})
  }

  /** Sends so many calls in one write. */
  send(calls, dueMs = 0) {
    this.inFlight += calls
    const isFirst = this.#streamId === 1
    const bytes = isFirst
      ? Buffer.concat([first, ...new Array(calls - 1).fill(next)])
      : Buffer.allocUnsafe(calls * next.length)
    let at = 0
    for (let i = 0; i < calls; i++) {
      const call = isFirst && i === 0 ? first : next
      if (!isFirst) next.copy(bytes, at)
      setStream(bytes, at, this.#streamId)
      this.#dueMs[(this.#streamId >> 1) & 0xffff] = dueMs
      this.#streamId += 2
      at += call.length
    }
    this.#socket.write(bytes)
  }

  close() {
    this.#socket.destroy()
  }

  #read(chunk) {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    let ended = 0
    while (bytes.length - at >= 9) {
      const end = at + 9 + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      const type = bytes[at + 3]
      if (type === HEADERS && bytes[at + 4] & 1) {
        ended++
        this.#answered.due(this.#dueMs[(bytes.readUInt32BE(at + 5) >> 1) & 0xffff])
      } else if (type === SETTINGS && (bytes[at + 4] & 1) === 0) this.#socket.write(frame(SETTINGS, 1, Buffer.alloc(0)))
      else if (type === RST_STREAM || type === GOAWAY) throw new Error(`the server has sent a frame of type ${type}`)
      at = end
    }
    this.#rest = bytes.subarray(at)
    if (ended === 0) return
    this.inFlight -= ended
    this.#answered.calls(this, ended)
  }
}

async function openConnections(port, answered) {
  const opened = Array.from({ length: CONNECTIONS }, async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Connection(socket, answered)
  })
  return Promise.all(opened)
}

/** Every stream calls again as soon as it has its answer. */
async function loadFully({ port, calls }) {
  let sent = 0
  let ended = 0
  const done = withResolvers()
  const take = (wanted) => {
    const granted = Math.min(wanted, calls - sent)
    sent += granted
    return granted
  }
  const connections = await openConnections(port, {
    due() {},
    calls(connection, answered) {
      ended += answered
      const again = take(answered)
      if (again > 0) connection.send(again)
      if (ended === calls) done.resolve()
    },
  })
  const beganMs = performance.now()
  for (const connection of connections) connection.send(take(STREAMS))
  await done.promise
  const ms = performance.now() - beganMs
  for (const connection of connections) connection.close()
  return { calls, perSecond: (calls / ms) * 1_000 }
}

/** Calls leave one by one at a constant rate. A latency counts from the time at which the call should have left. */
async function loadAtRate({ port, perSecond, ms }) {
  const total = Math.floor((perSecond * ms) / 1_000)
  const latencies = new Float64Array(total)
  let ended = 0
  const connections = await openConnections(port, {
    due(dueMs) {
      latencies[ended++] = performance.now() - dueMs
    },
    calls() {},
  })
  const beganMs = performance.now()
  let sent = 0
  await new Promise((resolve) => {
    const turn = () => {
      const due = Math.min(total, ((performance.now() - beganMs) * perSecond) / 1_000)
      while (sent < due) connections[sent % CONNECTIONS].send(1, beganMs + (sent++ * 1_000) / perSecond)
      if (ended === total) resolve()
      else setImmediate(turn)
    }
    turn()
  })
  for (const connection of connections) connection.close()
  latencies.sort()
  return { calls: total, p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99) }
}

function withResolvers() {
  const made = {}
  made.promise = new Promise((resolve) => {
    made.resolve = resolve
  })
  return made
}

process.on('message', async (message) => {
  try {
    process.send(await (message.calls === undefined ? loadAtRate(message) : loadFully(message)))
  } catch (error) {
    process.send({ error: String(error) })
  }
})
process.on('disconnect', () => process.exit())
process.send({})
