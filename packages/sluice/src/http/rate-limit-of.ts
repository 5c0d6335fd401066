import { invalidType } from '../errors.js'
import type { Verdict } from '../policy/index.js'
import { worseOf } from '../stores/index.js'
import type { Passage } from './passage.js'
import { notesOf } from './request-notes.js'

/**
 * The verdict of the limits that a request has passed so far. With several limits it has the levels of all of them, in the
 * order in which they decided, and it is denied if any of them denied. `undefined` if no limit has decided: none is in front
 * of the handler, or `skip` let the request through. Pass the object that the framework passes to the handler: `req`,
 * `request`, `ctx` or `c`.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { tokenBucket } from 'sluice'
 * import { rateLimit, rateLimitOf } from 'sluice/express'
 *
 * const app = express()
 * app.use(rateLimit({ limit: tokenBucket({ capacity: 100, refill: '100/m' }) }))
 * app.get('/', (req, res) => {
 *   const left = rateLimitOf(req)?.levels[0].decision.remaining
 *   res.send(`${left} requests left`)
 * })
 * ```
 */
export function rateLimitOf(request: object): Verdict | undefined {
  if (typeof request !== 'object' || request === null) throw invalidType('request', 'the request of a handler', request)
  const verdicts: Verdict[] = []
  for (let each = lastPassage(request) ?? lastPassage(serverRequestOf(request)); each !== undefined; each = each.before)
    verdicts.unshift(each.verdict)
  return verdicts.length < 2 ? verdicts[0] : verdictOfAll(verdicts)
}

/** The latest passage of a request. Its `before` is the passage before it. */
export function lastPassage(request: object | undefined): Passage | undefined {
  return notesOf(request)?.passage as Passage | undefined
}

/** The request of the server in the request or context of Fastify, Koa or Hono, for a limit in front of the framework. */
function serverRequestOf(request: object): object | undefined {
  const { env, raw, req } = request as {
    readonly env?: { readonly incoming?: object }
    readonly raw?: object
    readonly req?: { readonly raw?: object }
  }
  return env?.incoming ?? raw ?? req?.raw ?? req
}

function verdictOfAll(verdicts: readonly Verdict[]): Verdict {
  const allowed = verdicts.every((each) => each.allowed)
  const degraded = verdicts.map((each) => each.degraded).reduce((one, other) => worseOf(one, other))
  return {
    allowed,
    deniedBy: verdicts.flatMap(({ deniedBy }) => deniedBy),
    levels: verdicts.flatMap(({ levels }) => levels),
    retryAfterMs: Math.max(...verdicts.map(({ retryAfterMs }) => retryAfterMs)),
    delayMs: allowed ? Math.max(...verdicts.map(({ delayMs }) => delayMs)) : 0,
    ...(degraded && { degraded }),
  }
}
