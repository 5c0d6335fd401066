// Fastify: a limit for all routes. In the config of a route, one more limit (a request passes both or takes from neither),
// another limit instead, or none. Requests that `skip` returns true for are not limited at all.
import { fastify } from 'fastify'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fastify'

const app = fastify()

const monitors = new Set(['192.0.2.10'])
await app.register(
  rateLimit({
    name: 'all',
    limit: tokenBucket({ capacity: 10, refill: '5/m' }),
    // A proxy on this machine may say where a request comes from. The routes below inherit this option and the next.
    trustedProxies: 'loopback',
    skip: (_request, address) => monitors.has(address),
  }),
)

app.get('/', () => 'hello\n')

const search = { name: 'search', limit: tokenBucket({ capacity: 3, refill: '3/m' }) }
app.get('/search', { config: { rateLimit: search } }, () => 'found\n')

const upload = { name: 'upload', limit: tokenBucket({ capacity: 2, refill: '1/m' }), instead: true }
app.post('/upload', { config: { rateLimit: upload } }, () => 'stored\n')

app.get('/health', { config: { rateLimit: false } }, () => 'up\n')

const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`listening on ${address}`)
