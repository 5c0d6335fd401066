// The server that `npm run test:http2` asks: it echoes messages of gRPC. Arguments: a certificate and its key, for TLS. It
// sends its port to its parent, and lives as long as that.
import { readFileSync } from 'node:fs'
import { OwnGrpcServer } from '../../packages/service/dist/http2/own-grpc-server.js'

const [cert, key] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'))
const faults = []
const server = new OwnGrpcServer({
  methods: new Map([['/test.Test/Echo', { kind: 'unary', answer: (message) => Buffer.from(message) }]]),
  fault: (error) => faults.push(String(error)),
  ...(cert === undefined ? {} : { tls: { cert, key } }),
})
process.on('message', () => process.send({ faults }))
process.on('disconnect', () => process.exit())
process.send({ port: await server.listen('127.0.0.1', 0) })
