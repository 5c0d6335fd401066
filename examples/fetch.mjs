// A handler that turns a Request into a Response, as Next.js, Bun, Deno and workers have them. Here Hono's server for
// Node.js calls it. A Request does not say where it comes from: whoever calls the handler knows.
import { serve } from '@hono/node-server'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fetch'

const limited = rateLimit({
  limit: tokenBucket({ capacity: 5, refill: '5/m' }),
  // What the server hands on beside the request. In Deno: (request, info) => info.remoteAddr.hostname.
  address: (_request, { incoming }) => incoming.socket.remoteAddress,
})

const handler = limited((request) => new Response(`hello from ${new URL(request.url).pathname}\n`))

serve({ fetch: handler, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
