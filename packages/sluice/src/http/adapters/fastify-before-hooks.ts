/**
 * Fastify answers some requests before it runs any hook, so a flood of them would pass every limit: targets that it cannot
 * decode, such as `/%zz` (400), and parameters of a path that are too long (414). Such an answer is held back here until the
 * request has entered by a route of our own, which has the hooks. Then it is sent as it was.
 *
 * Not covered: what comes by `inject`, and by the second address of `localhost`, for which Fastify makes a server that
 * plugins cannot see.
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

/** As much of an application of Fastify as is needed. */
export interface FastifyServing {
  readonly prefix: string
  readonly server?: { prependListener?(event: 'request', listener: (request: never, response: never) => void): unknown }
  readonly initialConfig: { readonly maxParamLength?: number; readonly routerOptions?: { maxParamLength?: number } }
  // biome-ignore lint/suspicious/noExplicitAny: Fastify's own types are generic in ways that a part of them cannot be
  all(path: string, options: object, handler: (request: any, reply: any) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: see above
  routing(request: any, response: any): void
}

/** Requests that no hook has met yet, among those that Fastify may answer before. */
const unmet = new WeakSet<object>()
/** Sends the answer that was held back, when the request has passed. */
const held = new WeakMap<object, () => void>()
const served = new WeakSet<object>()
let routes = 0

/** A hook has met the request: what is answered from now on has passed it. */
export function meet(raw: object): void {
  unmet.delete(raw)
}

/** Is the answer to a request held back until the limit has decided? */
export function isHeld(raw: object): boolean {
  return held.has(raw)
}

/** Makes requests that Fastify answers before its hooks enter by a route that has those of this context. */
export function holdUnmet(app: FastifyServing): void {
  // An application that serves by other means than Node.js has no server.
  if (app.server === undefined || served.has(app)) return
  served.add(app)
  const { prefix, initialConfig } = app
  const path = `/.sluice/${++routes}`
  // Hidden from what is written down of the application's routes, as @fastify/swagger does.
  app.all(path, { schema: { hide: true } }, (request, reply) => {
    const send = held.get(request.raw)
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
    const asked = query < 0 ? url : url.slice(0, query)
    const isShort = asked.length <= longest
    if (isShort && asked.charCodeAt(0) === SLASH && !asked.includes('%')) return
    const isDecodable = isPath(url)
    if ((isShort && isDecodable) || !url.startsWith(prefix) || unmet.has(request)) return
    unmet.add(request)
    const mayBeUnmet = (status: unknown) => status === 414 || (!isDecodable && Number(status) >= 400)
    holdBack(request, response, mayBeUnmet, () => {
      request.originalUrl ??= url
      request.url = prefix + path
      app.routing(request, response)
    })
  })
}

/** Holds back an answer of that status to a request that no hook has met, and makes the request `enter` instead. */
function holdBack(
  request: RawRequest,
  response: RawResponse,
  mayBeUnmet: (status: unknown) => boolean,
  enter: () => void,
): void {
  const { writeHead } = response
  const goOn = (head: unknown[]) => Reflect.apply(writeHead, response, head)
  response.writeHead = (...head) => {
    if (!unmet.has(request) || !mayBeUnmet(head[0])) return goOn(head)
    const { write, end } = response
    const chunks: unknown[][] = []
    response.write = (...chunk) => chunks.push(chunk) > 0
    response.end = (...last) => {
      Object.assign(response, { write, end })
      // Once only: if no hook meets it now either, as when Fastify is closing, its answer goes.
      meet(request)
      held.set(request, () => {
        goOn(head)
        for (const chunk of chunks) response.write(...chunk)
        response.end(...last)
      })
      enter()
      return response
    }
    return response
  }
}

/** Is a target a path, perhaps with a query, that can be decoded? */
function isPath(target: string): boolean {
  try {
    decodeURI(target.split(/[?#]/, 1)[0])
    return target.charCodeAt(0) === SLASH
  } catch {
    return false
  }
}

const SLASH = 0x2f
