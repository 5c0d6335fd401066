import { invalidType } from '../../../errors.js'
import { type GlideClient, glideRunner, isGlide } from './glide-client.js'
import { type IoredisClient, ioredisRunner, isIoredis } from './ioredis-client.js'
import { isNodeRedis, type NodeRedisClient, nodeRedisRunner } from './node-redis-client.js'
import type { ScriptRunner } from './script-runner.js'

/** A client of ioredis, iovalkey, node-redis or valkey-glide, for one server or a cluster. */
export type RedisClient = IoredisClient | NodeRedisClient | GlideClient

/** Tells clients apart by their shape: a constructor's name says nothing after a bundler. */
export function runnerOf(client: unknown): ScriptRunner {
  if (typeof client === 'object' && client !== null) {
    if (isIoredis(client)) return ioredisRunner(client)
    if (isNodeRedis(client)) return nodeRedisRunner(client)
    if (isGlide(client)) return glideRunner(client)
  }
  throw invalidType(
    'client',
    `a client of ioredis, iovalkey, redis (node-redis) or @valkey/valkey-glide${hint(client)}`,
    client,
  )
}

/** Advice for values that are often passed by mistake. */
function hint(value: unknown): string {
  if (typeof value === 'string') return ' that was made for this address'
  if (typeof value !== 'object' || value === null) return ''
  if (typeof (value as { then?: unknown }).then === 'function') return ', which is what this promise gives when awaited'
  return 'client' in value ? ', as the first argument itself' : ''
}
