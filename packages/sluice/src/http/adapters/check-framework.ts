import { InvalidTypeError } from '../../errors.js'

/** Throws if an adapter is called with what another framework passes. `own` is the module of the adapter. */
export function checkFramework(own: string, isOwn: boolean): void {
  if (isOwn) return
  throw new InvalidTypeError(
    `rateLimit of ${own} was called by another framework: import it from sluice/express, sluice/fastify, sluice/nest, ` +
      'sluice/koa, sluice/hono, sluice/fetch or sluice/node',
  )
}
