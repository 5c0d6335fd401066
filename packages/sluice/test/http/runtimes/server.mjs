// Limited handlers in Deno and Bun, as a user would write them there. Says its port.
import { concurrency, leakyBucket, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'

const address = globalThis.Deno
  ? (_request, info) => info.remoteAddr.hostname
  : (request, server) => server.requestIP(request)?.address
const five = { limit: tokenBucket({ capacity: 5, refill: '1/d' }), address }

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const endless = () =>
  new ReadableStream({
    async pull(controller) {
      await pause(1)
      controller.enqueue(new Uint8Array(10))
    },
  })

const routes = {
  '/pipelined': rateLimit(five)(() => new Response('hello')),
  '/methods': rateLimit(five)(() => new Response('hello')),
  '/settled': rateLimit({
    limit: tokenBucket({ capacity: 100, refill: '1/h' }),
    address,
    settle: ({ length }) => length,
  })(() => new Response('0123456789')),
  '/queue': rateLimit({ limit: leakyBucket({ capacity: 3, drain: '20/s' }), address })(
    () => new Response(String(performance.now())),
  ),
  '/places': rateLimit({ limit: concurrency({ max: 3, ttl: '1m' }), address })(async () => {
    await pause(300)
    return new Response('done')
  }),
  '/endless': rateLimit({ limit: concurrency({ max: 1, ttl: '1m' }), address })(() => new Response(endless())),
  '/broken': rateLimit(five)(() => {
    throw new Error('broken')
  }),
}

const handle = (request, info) =>
  routes[new URL(request.url).pathname]?.(request, info) ?? new Response('nothing here', { status: 404 })
const onError = () => new Response('sorry', { status: 500 })
const onListen = ({ port }) => console.log(port)
if (globalThis.Deno) Deno.serve({ port: 0, hostname: '127.0.0.1', onListen, onError }, handle)
else onListen(Bun.serve({ port: 0, hostname: '127.0.0.1', error: onError, fetch: handle }))
