import { InvalidTypeError } from '../../errors.js'
import type { NodeRequest, NodeResponse } from './node-exchange.js'

/**
 * Throws if an adapter is called with what another framework passes, as `sluice/express` is in a hook of Fastify. `own` is the
 * module of the adapter, and `isOwn` tells whether the arguments look like those of its framework.
 */
export function checkFramework(own: string, isOwn: boolean): void {
  if (isOwn) return
  throw new InvalidTypeError(
    `rateLimit of ${own} was called by another framework: import it from sluice/express, sluice/fastify, sluice/nest, ` +
      'sluice/koa, sluice/hono, sluice/fetch or sluice/node',
  )
}

/** Whether the arguments of middleware are a request and a response as Node.js has them. */
export function isOfNode(
  request: Partial<NodeRequest> | undefined,
  response: Partial<NodeResponse> | undefined,
): boolean {
  return request?.headers !== undefined && typeof response?.setHeader === 'function'
}
