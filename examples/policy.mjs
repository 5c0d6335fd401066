// Several levels in Express: the whole API, each account, creating charges, and each address without an account. A request
// passes every level that matches it, or takes from none.
import express from 'express'
import { createPolicy, tokenBucket } from 'sluice'
import { rateLimit } from 'sluice/express'

const accounts = new Map([
  ['sk_small', 'acct_small'],
  ['sk_big', 'acct_big'],
])

const perMinute = (units) => tokenBucket({ capacity: units, refill: `${units}/m` })

const policy = createPolicy({
  levels: [
    { name: 'global', limit: perMinute(1_000) },
    {
      name: 'account',
      key: ['account'],
      limit: perMinute(5),
      overrides: [{ when: { account: 'acct_big' }, limit: perMinute(100) }],
    },
    { name: 'charges', when: { method: 'POST', path: '/v1/charges' }, key: ['account'], limit: perMinute(2) },
    { name: 'ip', when: { account: null }, key: ['ip'], limit: perMinute(3) },
  ],
})

const app = express()

// `method`, `path` and `ip` are known. An unknown API key is no account: otherwise every invented key would be a new client.
const attributes = ({ headers }) => ({ account: accounts.get(headers.authorization?.replace(/^Bearer /, '')) })
app.use(rateLimit({ policy, attributes, trustedProxies: 'loopback' }))

app.get('/v1/customers', (_req, res) => res.json({ data: [] }))
app.post('/v1/charges', (_req, res) => res.status(201).json({ object: 'charge' }))

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
