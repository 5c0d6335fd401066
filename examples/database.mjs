// Limits from a database: a user's own limit if there is one, otherwise the limit of the user's plan. A change holds from the
// next request on, without a restart, and units that a user has used stay used.
import express from 'express'
import { fixedWindow, parseLimit } from 'sluice'
import { rateLimit } from 'sluice/express'

// Two tables. Limits are JSON, so a new plan is a new row and not a new release.
const perHour = (quota) => JSON.stringify(fixedWindow({ quota, window: '1h' }))
const plans = new Map([
  ['free', perHour(3)],
  ['paid', perHour(10)],
])
const users = new Map([
  ['sk_ann', { id: 'ann', plan: 'free', limit: null }],
  ['sk_bob', { id: 'bob', plan: 'free', limit: perHour(5) }], // more than the plan gives
])

// SELECT users.id, coalesce(users.limit, plans.limit) FROM users JOIN plans USING (plan) WHERE api_key = $1
async function query(apiKey) {
  await new Promise((resolve) => setTimeout(resolve, 2))
  const user = users.get(apiKey)
  return user && { id: user.id, limit: parseLimit(JSON.parse(user.limit ?? plans.get(user.plan))) }
}

// `key` and `limit` share one query.
const found = new WeakMap()
function userOf(req) {
  if (!found.has(req)) found.set(req, query(req.get('x-api-key')))
  return found.get(req)
}

const app = express()

// A proxy on this machine may say where a request comes from. Without a proxy, the option changes nothing.
const trustedProxies = 'loopback'

// In front of the database, and without it: an address that guesses keys asks no more than 30 queries an hour.
app.use(rateLimit({ name: 'address', limit: fixedWindow({ quota: 30, window: '1h' }), trustedProxies }))

// UPDATE users SET plan = 'paid' WHERE api_key = $1
app.post('/upgrade', (req, res) => {
  Object.assign(users.get(req.get('x-api-key')) ?? {}, { plan: 'paid' })
  res.send('thank you\n')
})

const anonymous = fixedWindow({ quota: 1, window: '1h' })
app.use(
  rateLimit({
    name: 'user', // the states of all plans are kept under this name
    key: async (req) => (await userOf(req))?.id, // an unknown key has none, and is limited by its address
    limit: async (req) => (await userOf(req))?.limit ?? anonymous,
    trustedProxies,
  }),
)

app.get('/', async (req, res) => res.send(`hello ${(await userOf(req))?.id ?? 'stranger'}\n`))

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
