// Answers a unary call of gRPC with a constant: on node:http2, or on our own server, at once or by a promise. Sends its port,
// and after each message the CPU time that it has used.
import { createServer } from 'node:http2'
import { OwnGrpcServer } from '../../packages/service/dist/http2/own-grpc-server.js'
import { ANSWER, PATH } from './unary-call.mjs'

const contenders = {
  node: startOnNode,
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

function startOwn(answer) {
  return new OwnGrpcServer({ methods: new Map([[PATH, { kind: 'unary', answer }]]) }).listen('127.0.0.1', 0)
}

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuS: (user + system) / 1e6 })
})
process.on('disconnect', () => process.exit())
process.send({ port: await contenders[process.argv[2]]() })
