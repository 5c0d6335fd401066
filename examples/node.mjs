// The smallest example: node:http, and one limit for each address. Five requests at once, then one every 12 seconds.
import { createServer } from 'node:http'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/node'

// A proxy on this machine may say where a request comes from. Without a proxy, the option changes nothing.
const limited = rateLimit({ limit: tokenBucket({ capacity: 5, refill: '5/m' }), trustedProxies: 'loopback' })

const server = createServer((req, res) => {
  limited(req, res, () => res.end('hello\n'))
})

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
