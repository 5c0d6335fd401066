// The cost of a GraphQL query is computed from its document, before it is executed: a field costs 1, and the fields of a
// list cost `first` times as much. Each address may spend 1,000 a day.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { buildSchema, execute, getOperationAST, getVariableValues, parse, validate, valueFromASTUntyped } from 'graphql'
import { createPolicy, tokenBucket } from 'sluice'
import { clientAddress, describe } from 'sluice/http'

const schema = buildSchema(`
  type Query { users(first: Int!): [User!]! }
  type User { name: String! friends(first: Int!): [User!]! }
`)
const users = ({ first }) => Array.from({ length: first }, (_, i) => ({ name: `user ${i}`, friends: users }))

const limit = tokenBucket({ capacity: 1_000, refill: '1000/d' })
const policy = createPolicy({ levels: [{ name: 'points', key: ['ip'], limit }] })
const addressOf = clientAddress({ trustedProxies: 'loopback' }) // a proxy on this machine may say where a request comes from

function costOf(operation, { definitions }, variables) {
  const fragments = new Map() // the cost of each fragment, computed once
  const cost = ({ kind, name, arguments: args = [], selectionSet: { selections } = { selections: [] } }) => {
    if (kind === 'FragmentSpread') {
      const fragment = definitions.find((each) => each.kind === 'FragmentDefinition' && each.name.value === name.value)
      if (!fragments.has(fragment)) fragments.set(fragment, cost(fragment))
      return fragments.get(fragment)
    }
    const inside = selections.reduce((sum, each) => Math.min(sum + cost(each), 1_000_000), 0) // enough to be denied
    const first = args.find((each) => each.name.value === 'first')
    const times = first === undefined ? 1 : Math.max(0, valueFromASTUntyped(first.value, variables))
    return kind === 'Field' ? 1 + times * inside : inside
  }
  return cost(operation)
}

const server = createServer(async (req, res) => {
  try {
    const { query, variables } = await json(req)
    const document = parse(query, { maxTokens: 1_000 })
    const operation = getOperationAST(document)
    if (!operation) throw new Error('send one operation')
    const { coerced, errors = [] } = getVariableValues(schema, operation.variableDefinitions, variables ?? {})
    const [error] = [...validate(schema, document), ...errors]
    if (error) throw error

    const cost = costOf(operation, document, coerced)
    const ip = addressOf(req.socket.remoteAddress, (name) => req.headers[name])
    const verdict = policy.check({ ip }, { cost })
    if (verdict.retryAfterMs === Infinity) throw new Error(`it costs ${cost}, which is never allowed: ask for less`)
    const { status, headers, body } = describe(verdict)
    if (!verdict.allowed) return res.writeHead(status, headers).end(body)

    const result = await execute({ schema, document, rootValue: { users }, variableValues: variables })
    res.writeHead(200, { ...headers, 'Content-Type': 'application/json' })
    res.end(JSON.stringify({ ...result, extensions: { cost } }))
  } catch ({ message }) {
    res.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify({ errors: [{ message }] }))
  }
})

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
