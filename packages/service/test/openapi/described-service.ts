import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect } from 'vitest'
import type { RunningService } from '../../dist/serve/start-service.js'
import { serveHere } from '../recorder/serve-here.js'

/** An operation of the document that the service serves. */
interface Operation {
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object; readonly example: unknown }> }
  readonly responses: Record<
    string,
    { readonly headers?: object; readonly content?: Record<string, { schema?: object; example?: unknown }> }
  >
  readonly security?: readonly object[]
}

/** The document that the service serves. */
export interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, object> }
}

/** A request to a described route. */
export interface Ask {
  readonly body?: unknown
  readonly token?: string | null
  readonly fields?: Record<string, string>
}

/** The fields that a proxy sends to the gate. */
const GATE_FIELDS = { 'x-original-method': 'GET', 'x-original-uri': '/v1/charges', 'x-forwarded-for': '192.0.2.77' }

export const TOKEN = 'a-token-for-the-tests'

/** A service, whose every answer is compared with the description that it serves at /openapi.json. */
export class DescribedService {
  readonly #options: Readonly<Record<string, string>>
  readonly #validators = new Map<object, (value: unknown) => string>()
  readonly seen = new Set<string>()
  running!: RunningService
  document!: Document
  #ajv!: Ajv2020

  constructor(options: Readonly<Record<string, string>> = {}, hasToken = true) {
    this.#options = { ...(hasToken && { 'admin-token': TOKEN }), ...options }
    beforeAll(() => this.start())
    afterAll(() => this.running?.close())
  }

  async start(): Promise<void> {
    this.running = await serveHere(this.#options)
    // As `sluice serve` does beside the example policy.
    this.running.service.switchDemo = () => {}
    this.document = (await (await fetch(`${this.running.url}/openapi.json`)).json()) as Document
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
    this.#ajv.addSchema({ $id: 'document', components: strict(this.document.components) })
  }

  /** Asks the service and checks the answer. A body that the service accepts must match its schema. */
  async ask(method: string, path: string, { body, token, fields = {} }: Ask = {}) {
    const gate = path.startsWith('/v1/gate') ? GATE_FIELDS : {}
    const response = await fetch(this.running.url + path, {
      method,
      headers: { ...gate, ...(token === null ? {} : { authorization: `Bearer ${token ?? TOKEN}` }), ...fields },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const type = response.headers.get('content-type') ?? ''
    const value = type.includes('json') ? JSON.parse(text) : text
    const operation = this.document.paths[path.replace(/\?.*/, '')]?.[method.toLowerCase()]
    if (operation !== undefined) this.#check(operation, `${method} ${path}`, response, value)
    if (operation?.requestBody !== undefined && response.ok)
      expect(this.problems(operation.requestBody.content['application/json'].schema, body), path).toBe('')
    return { status: response.status, body: value, headers: response.headers }
  }

  #check({ responses }: Operation, route: string, response: Response, value: unknown): void {
    const described = responses[response.status]
    expect(described, `${route} answered ${response.status}, which is not described`).toBeDefined()
    this.seen.add(`${route.replace(/\?.*/, '')} ${response.status}`)
    for (const name of Object.keys(described.headers ?? {})) expect(response.headers.has(name), name).toBe(true)
    const type = response.headers.get('content-type')
    expect(Object.keys(described.content ?? {}), route).toEqual(type === null ? [] : [type])
    const schema = described.content?.[type as string]?.schema
    if (schema === undefined) return
    expect(this.problems(strict(schema), value), `${route} ${response.status}`).toBe('')
  }

  /** What is wrong with a value by a schema of the document; an empty text if nothing is. */
  problems(schema: object, value: unknown): string {
    let validate = this.#validators.get(schema)
    if (validate === undefined) {
      const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components')
      const compiled = this.#ajv.compile(JSON.parse(text))
      validate = (given) => (compiled(given) ? '' : this.#ajv.errorsText(compiled.errors))
      this.#validators.set(schema, validate)
    }
    return validate(value)
  }
}

/** The same schema, in which an object has no members but those that it describes. Answers must have no others. */
function strict<T>(schema: T): T {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(strict) as T
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strict(value)]))
  const isOpen =
    'properties' in schema && 'type' in schema && !('additionalProperties' in schema) && !('allOf' in schema)
  return (isOpen ? { ...copy, additionalProperties: false } : copy) as T
}
