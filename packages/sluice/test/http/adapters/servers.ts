import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { RunningApp } from './app.js'

/** Serves on a free port of this machine. */
export async function serve(listener: RequestListener, http2 = false): Promise<RunningApp> {
  return running(http2 ? (createHttp2Server(listener as never) as unknown as Server) : createServer(listener))
}

/** Makes a function that sends requests to applications of Fastify by sockets, and a function that closes them all. */
export function socketsTo() {
  const apps = new Map<FastifyInstance, Promise<string>>()
  const originOf = (app: FastifyInstance) => {
    const origin = apps.get(app) ?? app.listen({ port: 0, host: '127.0.0.1' })
    apps.set(app, origin)
    return origin
  }
  return {
    async send(app: FastifyInstance, path: string, init?: RequestInit) {
      const response = await fetch((await originOf(app)) + path, init)
      const body = await response.text()
      return { statusCode: response.status, headers: Object.fromEntries(response.headers), body }
    },
    async closeAll() {
      for (const app of apps.keys()) {
        app.server.closeAllConnections()
        await app.close()
      }
      apps.clear()
    },
  }
}

/** Makes a server listen, and ends its connections when it is closed. */
export async function running(server: Server): Promise<RunningApp> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      const closed = once(server, 'close')
      server.close()
      await closed
    },
  }
}
