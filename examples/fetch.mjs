// A handler that turns a Request into a Response, as in Next.js, Bun, Deno and workers. Here Hono's server for Node.js
// calls it. A Request has no address, so the address comes from the other arguments of the handler.
import { serve } from '@hono/node-server'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'

const limited = rateLimit({
  limit: tokenBucket({ capacity: 5, refill: '5/m' }),
  // The second argument of the handler. In Deno: (request, info) => info.remoteAddr.hostname.
  address: (_request, { incoming }) => incoming.socket.remoteAddress,
  trustedProxies: 'loopback', // a proxy on this machine may say where a request comes from
})

const handler = limited((request) => new Response(`hello from ${new URL(request.url).pathname}\n`))

serve({ fetch: handler, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
