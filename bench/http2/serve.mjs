// Answers a unary call of gRPC with a constant: on node:http2, on our own server, at once or by a promise, or without reading
// it. Sends its port, and after each message the CPU time that it has used.
import { createServer } from 'node:http2'
import { createServer as createTcpServer } from 'node:net'
import { OwnGrpcServer } from '../../packages/service/dist/http2/own-grpc-server.js'
import { ANSWER, FIRST_FRAMES, firstCall, frame, nextCall, PATH, setAnswered } from './unary-call.mjs'

const contenders = {
  node: startOnNode,
  net: startOnNet,
  own: () => startOwn(() => ANSWER),
  promise: () => startOwn(() => Promise.resolve(ANSWER)),
}

/** The least that a server on the stream API of node:http2 can do for a call. */
function startOnNode() {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(ANSWER.length, 1)
  const body = Buffer.concat([head, ANSWER])
  const headers = { ':status': 200, 'content-type': 'application/grpc' }
  const trailers = { 'grpc-status': '0' }
  const server = createServer()
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.on('data', () => {})
    stream.on('end', () => {
      stream.respond(headers, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers(trailers))
      stream.end(body)
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}

/** The least that any server on node:net can do: it counts bytes, and writes as many answers as there were calls. */
function startOnNet() {
  const answer = Buffer.concat([
    frame(1, 4, Buffer.from([0x88, 0xbf])),
    frame(0, 0, Buffer.concat([Buffer.alloc(5), ANSWER])),
    frame(1, 5, Buffer.from([0xbe])),
  ])
  const first = FIRST_FRAMES.length + firstCall().length
  const next = nextCall().length
  const server = createTcpServer({ noDelay: true }, (socket) => {
    let bytes = 0
    let answered = 0
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      bytes += chunk.length
      const calls = bytes < first ? 0 : 1 + Math.floor((bytes - first) / next)
      const answers = Buffer.alloc((calls - answered) * answer.length, answer)
      for (let at = 0; answered < calls; at += answer.length) setAnswered(answers, at, 1 + 2 * answered++)
      if (answers.length > 0) socket.write(answers)
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
}

function startOwn(answer) {
  return new OwnGrpcServer({ methods: new Map([[PATH, { kind: 'unary', answer }]]) }).listen('127.0.0.1', 0)
}

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuS: (user + system) / 1e6 })
})
process.on('disconnect', () => process.exit())
process.send({ port: await contenders[process.argv[2]]() })
