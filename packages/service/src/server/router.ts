import type { Door, Handler } from './door.js'
import { Problem } from './problem.js'

/** The handler of a request, and the door that it belongs to. */
export interface Route {
  readonly door: string
  readonly handler: Handler
}

/** Finds the handler of a request by its method and its exact path. */
export class Router {
  /** By path, then by method. */
  readonly #paths = new Map<string, Map<string, Route>>()

  constructor(doors: readonly Door[]) {
    for (const door of doors)
      for (const [name, handler] of Object.entries({ ...door.routes, ...door.files })) {
        const [method, path] = name.split(' ')
        const methods = this.#paths.get(path) ?? new Map<string, Route>()
        this.#paths.set(path, methods)
        methods.set(method, { door: door.name, handler })
      }
  }

  /** Throws a `Problem` for a path or method that no door answers. */
  find(method: string, path: string): Route {
    const methods = this.#paths.get(path)
    if (methods === undefined) throw new Problem(404, 'There is no such resource', this.#adviceFor(path))
    const route = methods.get(method) ?? (method === 'HEAD' ? methods.get('GET') : undefined) ?? methods.get('ANY')
    if (route !== undefined) return route
    const allowed = allowedBy(methods)
    if (method === 'OPTIONS') return { door: 'options', handler: (exchange) => exchange.empty({ Allow: allowed }) }
    throw new Problem(405, 'The method is not allowed', `${path} answers ${allowed}, got ${method}`, { Allow: allowed })
  }

  #adviceFor(path: string): string {
    const shown = path.length > 60 ? `${path.slice(0, 60)}…` : path
    return `nothing is at ${shown}; /docs lists all resources, and /openapi.json has them for programs`
  }
}

/** The methods of a path: `GET, HEAD, OPTIONS`. */
function allowedBy(methods: ReadonlyMap<string, Route>): string {
  return [...methods.keys()]
    .flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]))
    .concat('OPTIONS')
    .join(', ')
}
