import { Readable } from 'node:stream'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify as fastify5 } from 'fastify'
import { fastify as fastify4 } from 'fastify4'
import { rateLimit } from 'sluice/fastify'
import { setCost } from 'sluice/http'
import { chunks, endless, optionsOf, pause, type StartApp } from './app.js'
import { running } from './servers.js'

function startWith(fastify: typeof fastify5): StartApp {
  return async ({ limits, http2 = false, onHandled }) => {
    const app: FastifyInstance = http2 ? (fastify({ http2: true }) as unknown as FastifyInstance) : fastify()
    for (const spec of limits) {
      app.register(
        rateLimit(
          optionsOf(
            spec,
            (request: FastifyRequest, name) => request.headers[name]?.toString(),
            (text) => (_request: FastifyRequest, reply: FastifyReply) => void reply.code(418).send(text),
          ),
        ),
      )
    }
    app.addHook('preHandler', async (request) =>
      onHandled?.(new URL(request.url, 'http://localhost').pathname, request),
    )
    app.setErrorHandler((_error, _request, reply) => reply.code(500).send('error'))
    app.get('/ok', async (request) => {
      await pause(request.url)
      return 'ok'
    })
    app.get<{ Querystring: { units: string } }>('/cost', async (request) => {
      setCost(request, Number(request.query.units))
      return 'ok'
    })
    app.get('/stream', (_request, reply) => reply.send(Readable.from(chunks())))
    app.get('/endless', (_request, reply) => reply.send(Readable.from(endless())))
    app.get('/error', async () => {
      throw new Error('boom')
    })
    await app.ready()
    return running(app.server)
  }
}

export const startFastify5 = startWith(fastify5)
export const startFastify4 = startWith(fastify4 as unknown as typeof fastify5)
