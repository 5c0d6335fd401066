// A strict API in its own process: if more than `mostInASecond` requests arrive in any second, it bans its callers for good.
import { createServer } from 'node:http'

const WINDOW_MS = 1_000
const LOOK_MS = 5
const { mostInASecond } = JSON.parse(process.argv[2])
/** The arrival times of the last second, oldest first. */
const recent = []
const counts = { arrivals: 0, mostInASecond: 0, bans: 0, refused: 0 }
/** The longest that this process was held up. It sees requests that arrive meanwhile only afterwards, all at once. */
let heldUpMs = 0
let isBanned = false

const server = createServer((request, response) => {
  // A greeting opens a connection. Other paths may come from a program that takes this port for another server's.
  if (request.url !== '/call') {
    response.statusCode = request.url === '/greeting' ? 200 : 404
    response.end()
    return
  }
  arrived(performance.now())
  response.statusCode = isBanned ? 403 : 200
  response.end()
})

function arrived(nowMs) {
  counts.arrivals++
  recent.push(nowMs)
  while (recent[0] <= nowMs - WINDOW_MS) recent.shift()
  counts.mostInASecond = Math.max(counts.mostInASecond, recent.length)
  if (isBanned) counts.refused++
  else if (recent.length > mostInASecond) {
    isBanned = true
    counts.bans++
    counts.refused++
  }
}

function watch() {
  const dueMs = performance.now() + LOOK_MS
  setTimeout(() => {
    heldUpMs = Math.max(heldUpMs, performance.now() - dueMs)
    watch()
  }, LOOK_MS)
}

// Connections stay open, so that no request waits for one.
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => {
  process.send({ port: server.address().port })
  watch()
})
process.once('message', () => process.send({ ...counts, heldUpMs }))
process.on('disconnect', () => process.exit())
