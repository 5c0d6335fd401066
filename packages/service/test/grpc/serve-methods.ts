import type { GrpcMethod } from '../../src/grpc/grpc-method.js'
import { NodeGrpcServer } from '../../src/grpc/node-grpc-server.js'
import { GrpcClient } from './grpc-client.js'

/** A server with these methods, and a client of it. */
export async function serveMethods(methods: ReadonlyMap<string, GrpcMethod>) {
  const server = new NodeGrpcServer({ methods })
  const client = new GrpcClient(await server.listen('127.0.0.1', 0))
  const close = async () => {
    client.close()
    await server.close(0)
  }
  return { server, client, close }
}
