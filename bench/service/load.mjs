// A cheap client for JSON over HTTP: raw sockets, requests that were built before, one request at a time on each.
import { once } from 'node:events'
import { connect } from 'node:net'

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('Content-Length: ')
const OK = Buffer.from('HTTP/1.1 200 ')

/** The bytes of a POST with a JSON body. */
export function postRequest(path, body) {
  const text = JSON.stringify(body)
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  return Buffer.from(`${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
}

/** Opens connections to a server on this machine. */
export async function openConnections(port, connections) {
  const opened = Array.from({ length: connections }, async () => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Connection(socket)
  })
  return Promise.all(opened)
}

/** One connection with at most one request on its way. An answer other than 200 is an error. */
class Connection {
  #socket
  #rest = Buffer.alloc(0)
  /** How many bytes of the body have not come yet. */
  #missing = 0
  #done

  constructor(socket) {
    this.#socket = socket
    socket.on('data', (chunk) => this.#read(chunk))
    socket.on('error', () => {})
    socket.on('close', () => this.#done?.(new Error('the server has closed a connection')))
  }

  get isFree() {
    return this.#done === undefined && !this.#socket.destroyed
  }

  /** Sends a request, and calls `done` when its answer is complete, with an error if it is not a 200. */
  send(request, done) {
    this.#done = done
    if (this.#socket.destroyed) this.#finish(new Error('the server has closed a connection'))
    else this.#socket.write(request)
  }

  close() {
    this.#done = undefined
    this.#socket.destroy()
  }

  #read(chunk) {
    if (this.#missing > 0) {
      this.#missing -= chunk.length
      if (this.#missing <= 0) this.#finish()
      return
    }
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const end = data.indexOf(HEAD_END)
    if (end < 0) {
      this.#rest = data
      return
    }
    this.#rest = Buffer.alloc(0)
    if (data.compare(OK, 0, OK.length, 0, OK.length) !== 0) {
      this.#finish(new Error(`an unexpected answer: ${data.toString('latin1', 0, 300)}`))
      return
    }
    const at = data.indexOf(LENGTH) + LENGTH.length
    this.#missing = end + HEAD_END.length + Number.parseInt(data.toString('latin1', at, at + 10), 10) - data.length
    if (this.#missing <= 0) this.#finish()
  }

  #finish(error) {
    this.#missing = 0
    const done = this.#done
    this.#done = undefined
    done?.(error)
  }
}

/**
 * How many answers come within `ms`, if every connection sends its next request as soon as it has an answer. `next()`
 * returns the bytes of a request. The client never sleeps: a server that writes to a sleeping process must wake a
 * processor, and a server whose clients are on other machines does not do that work.
 */
export async function loadFully(connections, next, ms) {
  const endMs = performance.now() + ms
  let answers = 0
  let isOver = false
  const stayAwake = () => isOver || setImmediate(stayAwake)
  stayAwake()
  const each = connections.map(
    (connection) =>
      new Promise((resolve, reject) => {
        const go = (error) => {
          if (error !== undefined) return reject(error)
          answers++
          if (performance.now() < endMs) connection.send(next(), go)
          else resolve()
        }
        connection.send(next(), go)
      }),
  )
  await Promise.all(each).finally(() => {
    isOver = true
  })
  return answers
}

/**
 * The latency of each answer in milliseconds, if requests leave at a constant rate for `ms`. A latency counts from the
 * time at which the request should have left, so that a slow server cannot slow its own measurement down. A request that
 * finds no free connection waits for one; that counts too. Errors are counted, and have no latency.
 */
export async function loadAtRate(connections, next, { perSecond, ms }) {
  const beganMs = performance.now()
  const total = Math.floor((perSecond * ms) / 1_000)
  const latencies = new Float64Array(total)
  const free = [...connections]
  let sent = 0
  let ended = 0
  let answers = 0
  let errors = 0
  await new Promise((resolve) => {
    const turn = () => {
      const due = Math.min(total, ((performance.now() - beganMs) * perSecond) / 1_000)
      while (sent < due && free.length > 0) {
        const connection = free.pop()
        const dueMs = beganMs + (sent++ * 1_000) / perSecond
        connection.send(next(), (error) => {
          if (error === undefined) latencies[answers++] = performance.now() - dueMs
          else errors++
          ended++
          if (connection.isFree) free.push(connection)
        })
      }
      if (ended === total || (free.length === 0 && ended === sent)) resolve()
      else setImmediate(turn)
    }
    turn()
  })
  return { latencies: latencies.subarray(0, answers).sort(), errors: errors + total - sent }
}
