import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it } from 'vitest'
import { DescribedService, TOKEN } from './described-service.js'

const service = new DescribedService({ 'trusted-proxies': '127.0.0.0/8' })

/** Their answers do not end by themselves. */
const STREAMS = ['/v1/admin/events', '/v1/live']

function operations() {
  return Object.entries(service.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
}

it('every route of the service is described, and nothing else is', () => {
  const described = operations().map(({ method, path }) => `${method} ${path}`)
  const methodsOf = (route: string) => {
    const [method, path] = route.split(' ')
    const methods = method === 'ANY' ? ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH'] : [method]
    return methods.map((each) => `${each} ${path}`)
  }
  expect(described.sort()).toEqual(service.running.routes.flatMap(methodsOf).sort())
})

it('the document is valid by the specification of OpenAPI 3.1', async () => {
  const validator = new Validator()
  expect(await validator.validate(JSON.parse(JSON.stringify(service.document)))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
})

it('every example of a body is accepted, and its answer is as described', async () => {
  for (const { method, path, operation } of operations()) {
    const example = operation.requestBody?.content['application/json'].example
    if (example === undefined) continue
    const { status, body } = await service.ask(method, path, { body: example })
    expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(300)
  }
})

it('every example of an answer is what its schema says', () => {
  const answers = operations().flatMap(({ operation }) => Object.values(operation.responses))
  const media = answers.flatMap(({ content = {} }) => Object.values(content))
  const examples = media.filter(({ example }) => example !== undefined)
  expect(examples.length).toBeGreaterThan(0)
  for (const { schema, example } of examples) expect(service.problems(schema as object, example)).toBe('')
})

it('every route without a body answers as described', async () => {
  for (const { method, path, operation } of operations()) {
    if (operation.requestBody !== undefined || STREAMS.includes(path)) continue
    const { status } = await service.ask(method, path)
    expect(status, `${method} ${path}`).toBeLessThan(300)
  }
})

it('a wrong body is answered with problem details, as described', async () => {
  for (const { method, path, operation } of operations()) {
    if (operation.requestBody === undefined) continue
    for (const body of ['', '[]', '{', '{"no_such_member":1}', '"text"', `{"a":"${'x'.repeat(5_000_000)}"}`]) {
      const answer = await service.ask(method, path, { body })
      expect([400, 413], `${path} ${body.slice(0, 30)}`).toContain(answer.status)
      expect(answer.body.detail.length).toBeGreaterThan(10)
    }
  }
})

it('the gate denies as described', async () => {
  const attributes = { ip: '192.0.2.77', method: 'GET', path: '/v1/charges' }
  await service.ask('POST', '/v1/admin/block', { body: { attributes, duration: '1m' } })
  expect((await service.ask('GET', '/v1/gate')).status).toBe(429)
  expect((await service.ask('POST', '/v1/gate?deny=403')).status).toBe(403)
  await service.ask('POST', '/v1/admin/reset', { body: { attributes, levels: ['ip'] } })
  expect((await service.ask('GET', '/v1/gate')).status).toBe(204)
})

it('the service says who may ask: routes with a token answer 401 without one, others never do', async () => {
  for (const { method, path, operation } of operations()) {
    // A stream answers HEAD as it answers GET, and ends.
    const asked = path === '/v1/live' ? 'HEAD' : method
    const { status } = await service.ask(asked, path, { token: null, body: operation.requestBody && {} })
    expect(status === 401, path).toBe(operation.security !== undefined)
    expect(operation.security !== undefined, path).toBe(path.startsWith('/v1/admin/'))
  }
})

it('every reference of the document leads to a schema, and every schema is used', () => {
  const text = JSON.stringify(service.document)
  const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
  expect([...used].sort()).toEqual(Object.keys(service.document.components.schemas).sort())
})

it('the document does not contain the token', () => {
  expect(JSON.stringify(service.document)).not.toContain(TOKEN)
})
