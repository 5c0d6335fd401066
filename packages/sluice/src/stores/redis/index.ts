/** `sluice/redis`: the same limits for a whole fleet, in Redis or Valkey. */
export type { GlideClient } from './clients/glide-client.js'
export { type IoredisClient, ioredisClusterOptions, ioredisOptions } from './clients/ioredis-client.js'
export { type NodeRedisClient, nodeRedisOptions, nodeRedisSentinelOptions } from './clients/node-redis-client.js'
export type { RedisClient } from './clients/runner-of.js'
export type { BreakerEvent, DegradedEvent, FailureReason, ReconnectEvent } from './failures.js'
export { type RedisStore, type RedisStoreStats, redisStore } from './redis-store.js'
export type { RedisStoreOptions } from './redis-store-options.js'
