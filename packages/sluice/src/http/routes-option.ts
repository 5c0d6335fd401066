/**
 * Limits of routes, by method and path: `'POST /login'`, `'GET /search/*'`, or `'/v1/**'` for every method and everything
 * below. Fastify and Nest know the routes of the application, so these have the limits of routes beside the routes.
 */
export interface RoutesOption<Options> {
  /**
   * Limits of routes, by method and path: `'POST /login'`, `'/v1/**'`. Such a limit adds to the limit before all and inherits
   * options from it; with `instead: true` it replaces that limit. `false` frees a route.
   */
  readonly routes?: { readonly [route: string]: (Options & InsteadOption) | false }
}

/** What the limit of a route does with the limits around it. */
interface InsteadOption {
  /** True: this limit replaces the limit before all, and those of wider routes. Default false: a request has to pass all. */
  readonly instead?: boolean
}
