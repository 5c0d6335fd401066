// What a request costs is known when its response is over. An estimate is taken before the handler, and then the
// difference is given back or charged: whoever took more than there was has to wait until the debt is paid.
import express from 'express'
import { tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'
import { setCost } from 'sluice/http'

const app = express()

// 1,000 rows a day. The handler says how many it found.
const rows = rateLimit({
  name: 'rows',
  limit: tokenBucket({ capacity: 1_000, refill: '1000/d' }),
  cost: 100,
  settle: ({ cost, taken }) => cost ?? taken, // nothing was said if the handler failed: then the estimate stays
})
app.get('/report', rows, (req, res) => {
  const found = Number(req.query.rows ?? 10) // stands for a query of a database
  setCost(req, found)
  res.send(`${found} rows\n`)
})

// 100 kilobytes a day, by what was really sent.
const kilobytes = rateLimit({
  name: 'kilobytes',
  limit: tokenBucket({ capacity: 100, refill: '100/d' }),
  settle: ({ length }) => Math.ceil(length / 1024),
})
app.get('/download', kilobytes, (_req, res) => res.send(Buffer.alloc(30 * 1024)))

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
