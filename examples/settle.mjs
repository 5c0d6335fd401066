// The real cost of a request is known when its response is over. An estimate is taken before the handler; then the
// difference is refunded or charged. A client that took more than it had waits until the debt is paid.
import express from 'express'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'
import { setCost } from 'sluice/http'

const app = express()

// A proxy on this machine may say where a request comes from. Without a proxy, the option changes nothing.
const trustedProxies = 'loopback'

// 1,000 rows a day. The handler reports how many it found.
const rows = rateLimit({
  name: 'rows',
  limit: tokenBucket({ capacity: 1_000, refill: '1000/d' }),
  cost: 100,
  settle: ({ cost, taken }) => cost ?? taken, // if the handler failed before setCost, the estimate stays
  trustedProxies,
})
app.get('/report', rows, (req, res) => {
  const found = Number(req.query.rows ?? 10) // stands for a query of a database
  setCost(req, found)
  res.send(`${found} rows\n`)
})

// 100 kilobytes a day, by the bytes that were sent.
const kilobytes = rateLimit({
  name: 'kilobytes',
  limit: tokenBucket({ capacity: 100, refill: '100/d' }),
  settle: ({ length }) => Math.ceil(length / 1024),
  trustedProxies,
})
app.get('/download', kilobytes, (_req, res) => res.send(Buffer.alloc(30 * 1024)))

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
