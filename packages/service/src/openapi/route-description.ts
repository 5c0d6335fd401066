/** A JSON Schema (2020-12), as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** An answer of a route: its meaning, and its body if it has one. */
export interface AnswerDescription {
  readonly description: string
  /** The media type. Default `application/json`. */
  readonly type?: string
  /** Absent if the answer has no body. */
  readonly schema?: JsonSchema
  readonly example?: unknown
  /** Header fields that belong to the answer, with their meaning. */
  readonly fields?: Readonly<Record<string, string>>
}

/** What a client has to know about a route. */
export interface RouteDescription {
  /** One line. */
  readonly summary: string
  /** Paragraphs, divided by empty lines. Text between backticks is code. */
  readonly description?: string
  /** Parameters behind the `?`. None of them is required. */
  readonly query?: Readonly<Record<string, { readonly schema: JsonSchema; readonly description: string }>>
  /** Header fields that the route reads, with their meaning. */
  readonly requestFields?: Readonly<Record<string, string>>
  /** The JSON body. A test sends the example to a real service. */
  readonly body?: { readonly schema: JsonSchema; readonly example: unknown }
  /** Answers by status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>
  /** Statuses that this route answers with problem details. Routes with a body have 400 and 413 anyway, and all have 500. */
  readonly problems?: readonly number[]
}

/** The description of a door. Each route of the door has one; a test fails if a route is missing. */
export interface DoorDescription {
  /** The heading over its routes. */
  readonly title: string
  readonly about: string
  /** Does it want `Authorization: Bearer TOKEN`? Then its routes answer 401, 403 and 429, too. */
  readonly needsToken?: true
  /** By method and path: `'POST /v1/check'`. */
  readonly routes: Readonly<Record<string, RouteDescription>>
}

/** A reference to a schema of the document by its name. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** An object with these members. Those whose names end in `?` may be absent. */
export function object(members: Readonly<Record<string, JsonSchema>>, more: JsonSchema = {}): JsonSchema {
  const names = Object.keys(members)
  const required = names.filter((name) => !name.endsWith('?'))
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]])),
    ...more,
  }
}
