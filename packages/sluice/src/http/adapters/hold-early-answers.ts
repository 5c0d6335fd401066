/**
 * Fastify answers some requests before it runs any hook: targets that it cannot decode, such as `/%zz` (400), and path
 * parameters that are too long (414). A flood of them would pass every limit. So such an answer is held back, the request
 * enters again by a route of our own, which has the hooks, and if the limit allows it, the answer is sent as it was.
 *
 * Not covered: requests by `inject`, and requests to the second address of `localhost`, because Fastify makes a server for it
 * that plugins cannot see.
 */

interface RawRequest {
  url?: string | undefined
  originalUrl?: string
}

interface RawResponse {
  writeHead(...given: unknown[]): unknown
  write(...given: unknown[]): unknown
  end(...given: unknown[]): unknown
  setHeader(name: string, value: unknown): unknown
}

/** The part of a Fastify application that is used here. */
export interface FastifyServing {
  readonly prefix: string
  readonly server?: { prependListener?(event: 'request', listener: (request: never, response: never) => void): unknown }
  readonly initialConfig: { readonly maxParamLength?: number; readonly routerOptions?: { maxParamLength?: number } }
  // biome-ignore lint/suspicious/noExplicitAny: Fastify's own types are generic in ways that a part of them cannot be
  all(path: string, options: object, handler: (request: any, reply: any) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: see above
  routing(request: any, response: any): void
}

/** Requests that Fastify may answer early and that have reached no hook yet. */
const beforeHooks = new WeakSet<object>()
/** Functions that send the answers held back, by request. */
const heldAnswers = new WeakMap<object, () => void>()
const watched = new WeakSet<object>()
let routes = 0

/** Notes that a request has reached a hook: from now on its answers are not early. */
export function reachedHooks(raw: object): void {
  beforeHooks.delete(raw)
}

/** Whether the answer to a request is held back until the limit has decided. */
export function isHeld(raw: object): boolean {
  return heldAnswers.has(raw)
}

/** Makes requests that Fastify answers early pass the hooks of this context. */
export function holdEarlyAnswers(app: FastifyServing): void {
  // An application that serves without Node.js has no server.
  if (app.server === undefined || watched.has(app)) return
  watched.add(app)
  const { prefix, initialConfig } = app
  const path = `/.sluice/${++routes}`
  // `hide` keeps the route out of the documentation that @fastify/swagger makes.
  app.all(path, { schema: { hide: true } }, (request, reply) => {
    const send = heldAnswers.get(request.raw)
    if (send === undefined) {
      reply.callNotFound()
      return
    }
    reply.hijack()
    const fields: Record<string, unknown> = reply.getHeaders()
    for (const name in fields) reply.raw.setHeader(name, fields[name])
    send()
  })
  const longest = initialConfig.routerOptions?.maxParamLength ?? initialConfig.maxParamLength ?? 0
  app.server.prependListener?.('request', (request: RawRequest, response: RawResponse) => {
    const { url = '' } = request
    const query = url.indexOf('?')
    const target = query < 0 ? url : url.slice(0, query)
    const isShort = target.length <= longest
    if (isShort && target.startsWith('/') && !target.includes('%')) return
    const isDecodable = isPath(url)
    if ((isShort && isDecodable) || !url.startsWith(prefix) || beforeHooks.has(request)) return
    beforeHooks.add(request)
    const isEarly = (status: unknown) =>
      beforeHooks.has(request) && (status === 414 || (!isDecodable && Number(status) >= 400))
    holdBack(request, response, isEarly, () => {
      request.originalUrl ??= url
      request.url = prefix + path
      app.routing(request, response)
    })
  })
}

/** Replaces the methods of a response: an early answer is kept in `heldAnswers`, and the request enters again. */
function holdBack(
  request: RawRequest,
  response: RawResponse,
  isEarly: (status: unknown) => boolean,
  enterAgain: () => void,
): void {
  const { writeHead } = response
  response.writeHead = (...head) => {
    if (!isEarly(head[0])) return Reflect.apply(writeHead, response, head)
    const { write, end } = response
    const chunks: unknown[][] = []
    response.write = (...chunk) => chunks.push(chunk) > 0
    response.end = (...last) => {
      Object.assign(response, { write, end })
      // Held back once only. If the request reaches no hook now either, as when Fastify is closing, its answer is sent.
      reachedHooks(request)
      heldAnswers.set(request, () => {
        Reflect.apply(writeHead, response, head)
        for (const chunk of chunks) response.write(...chunk)
        response.end(...last)
      })
      enterAgain()
      return response
    }
    return response
  }
}

/** Whether a target is a path, perhaps with a query, that can be decoded. */
function isPath(target: string): boolean {
  try {
    decodeURI(target.split(/[?#]/, 1)[0])
    return target.startsWith('/')
  } catch {
    return false
  }
}
