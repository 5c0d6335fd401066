import type { Level, Limit } from 'sluice'
import { GateReader } from '../doors/gate-reader.js'
import type { PolicyFile } from '../policy-file/parse-policy-file.js'
import type { Logger } from './log.js'
import type { ServeOptions } from './serve-options.js'

/** The most warnings about one file that are logged. */
const MOST_WARNINGS = 20

/**
 * Warns of what a policy that is put in force cannot do, by itself or behind this service. The policy can be used, and no
 * request would show that a level does not work as its author expects.
 */
export function adviseOnPolicy(file: PolicyFile, options: ServeOptions, log: Pick<Logger, 'warn'>): void {
  for (const { file: part = file.file, line, column, message } of file.warnings.slice(0, MOST_WARNINGS))
    log.warn({ file: part, line, column }, message)
  const levels = file.policy.levels.filter(hasPlaces).map(({ name }) => name)
  if (levels.length > 0)
    log.warn(
      { levels, advice: 'POST /v1/reserve, then /v1/settle or /v1/cancel' },
      'levels of the policy have concurrency limits: a place that /v1/check or /v1/gate takes stays taken until its ttl',
    )
  const queues = options.grpc === undefined ? [] : file.policy.levels.filter(hasQueues).map(({ name }) => name)
  if (queues.length > 0)
    log.warn(
      { levels: queues, advice: 'a token bucket, or the gate for proxies' },
      'levels of the policy have leaky buckets, and Envoy cannot make a request wait for its turn: there they only count and deny',
    )
  // Without trusted proxies the gate answers no request.
  const unknown = options.trustedProxies.length === 0 ? [] : new GateReader(options).unknownOf(file.attributes)
  if (unknown.length > 0)
    log.warn(
      { attributes: unknown, advice: `--gate-attributes ${unknown.map((name) => `${name}=x-${name}`).join(',')}` },
      'the policy asks about attributes that the gate knows no field for: in its requests they are absent',
    )
}

/** Has the level a concurrency limit, for all requests or for some? */
function hasPlaces(level: Level): boolean {
  return limitsOf(level).some(({ algorithm }) => algorithm === 'concurrency')
}

function hasQueues(level: Level): boolean {
  return limitsOf(level).some(({ algorithm }) => algorithm === 'leaky-bucket')
}

function limitsOf({ limit, overrides = [] }: Level): readonly Limit[] {
  return [limit, ...overrides.map((each) => each.limit)].flat()
}
