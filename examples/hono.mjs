// Hono on Node.js: a limit for all routes below a path, with the header fields of the draft standard and of GitHub.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { fixedWindow } from 'sluice'
import { rateLimit } from 'sluice/hono'

const app = new Hono()

// Each address: five an hour, counted from its first request.
const limit = fixedWindow({ quota: 5, window: '1h', align: 'first' })
app.use('/api/*', rateLimit({ limit, dialect: ['draft', 'legacy'], trustedProxies: 'loopback' }))

app.get('/', (c) => c.text('as often as you like\n'))
app.get('/api/time', (c) => c.json({ now: new Date() }))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
