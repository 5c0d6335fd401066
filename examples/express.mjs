// Express: a limit for the whole application, a stricter limit for one route in addition, and a route that is free.
import express from 'express'
import { slidingLog, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'

const app = express()

// A proxy on this machine may say where a request comes from. Without a proxy, the option changes nothing.
const trustedProxies = 'loopback'

app.use(
  rateLimit({
    // Each address: ten requests at once, then one every 12 seconds.
    name: 'all',
    limit: tokenBucket({ capacity: 10, refill: '5/m' }),
    trustedProxies,
    routes: {
      // In addition, each address: never more than three attempts in any hour.
      'POST /login': { name: 'login', limit: slidingLog({ quota: 3, window: '1h' }) },
      '/health': false,
    },
  }),
)

app.get('/health', (_req, res) => res.send('ok\n'))
app.get('/', (_req, res) => res.send('hello\n'))
app.post('/login', (_req, res) => res.status(401).send('wrong password\n'))

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
