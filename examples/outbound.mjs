// Calls to a strict API: four things a second, and a 429 beyond that. shapedFetch makes each call in its turn, a little slower
// than the API allows, and would wait if the API asked for it. So all calls succeed. With fetch alone (?politely=no) some fail.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { tokenBucket } from 'sluice'
import { shapedFetch } from 'sluice/http'
import { rateLimit } from 'sluice/node'

// Stands for the API.
const limited = rateLimit({ limit: tokenBucket({ capacity: 4, refill: '4/s' }) })
const api = createServer((req, res) => limited(req, res, () => res.end('a thing\n')))
await once(api.listen(0, '127.0.0.1'), 'listening')
const things = `http://127.0.0.1:${api.address().port}/things`

const politeFetch = shapedFetch({ drain: '3.6/s', capacity: 100 }) // nine tenths of what the API allows

const server = createServer(async (req, res) => {
  const { searchParams } = new URL(req.url, 'http://localhost')
  const call = searchParams.get('politely') === 'no' ? fetch : politeFetch
  try {
    const calls = Array.from({ length: 6 }, (_, id) => call(`${things}/${id}`))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    res.end(`${JSON.stringify(statuses)}\n`)
  } catch (error) {
    // Too many calls wait already, or the API does not answer.
    res.writeHead(503).end(`${error.message}\n`)
  }
})

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
