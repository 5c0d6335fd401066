// A server in a process of its own. After each message it collects its garbage, and sends what memory it has.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { OwnGrpcServer } from '../../dist/http2/own-grpc-server.js'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

const methods = new Map([
  ['/test.Test/Echo', { kind: 'unary', answer: (message) => Buffer.from(message) }],
  ['/test.Test/Large', { kind: 'unary', answer: () => Buffer.alloc(10_000) }],
  ['/test.Test/Chat', { kind: 'stream', open: () => ({ message() {}, clientEnded() {}, closed() {} }) }],
])
const server = new OwnGrpcServer({ methods })
process.on('message', async () => {
  // What the first collection lets go of, the second frees.
  for (let i = 0; i < 3; i++) {
    gc()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  process.send({ bytes: heapUsed + external, connections: server.connections })
})
process.on('disconnect', () => process.exit())
process.send({ port: await server.listen('127.0.0.1', 0) })
