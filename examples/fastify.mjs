// Fastify: a limit for all routes, and another limit in the config of one route. A request passes both or takes from
// neither.
import { fastify } from 'fastify'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/fastify'

const app = fastify()

// A proxy on this machine may say where a request comes from. The route below inherits the option.
const limit = tokenBucket({ capacity: 10, refill: '5/m' })
await app.register(rateLimit({ name: 'all', limit, trustedProxies: 'loopback' }))

app.get('/', () => 'hello\n')

const search = { name: 'search', limit: tokenBucket({ capacity: 3, refill: '3/m' }) }
app.get('/search', { config: { rateLimit: search } }, () => 'found\n')

const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`listening on ${address}`)
