// Does one task, given as JSON, in its own process, and prints its result as JSON.
import { writeSync } from 'node:fs'

/** A process loads only the task that it does, so that its heap holds nothing else. */
const tasks = {
  speed: async () => (await import('./tasks/speed.mjs')).speed,
  bytes: async () => (await import('./tasks/bytes.mjs')).bytes,
  pauses: async () => (await import('./tasks/pauses.mjs')).pauses,
  threads: async () => (await import('./tasks/threads.mjs')).threads,
  policySpeed: async () => (await import('./tasks/policy-speed.mjs')).policySpeed,
  policyLatency: async () => (await import('./tasks/policy-latency.mjs')).policyLatency,
  httpSpeed: async () => (await import('./tasks/http-speed.mjs')).httpSpeed,
  httpCounting: async () => (await import('./tasks/http-counting.mjs')).httpCounting,
  redisSpeed: async () => (await import('./tasks/redis-speed.mjs')).redisSpeed,
  redisLatency: async () => (await import('./tasks/redis-latency.mjs')).redisLatency,
  leases: async () => (await import('./tasks/leases.mjs')).leases,
  serviceClient: async () => (await import('./tasks/service-client.mjs')).serviceClient,
  shaperSpeed: async () => (await import('./tasks/shaper-speed.mjs')).shaperSpeed,
  shaperBytes: async () => (await import('./tasks/shaper-bytes.mjs')).shaperBytes,
  shaperSpacing: async () => (await import('./tasks/shaper-spacing.mjs')).shaperSpacing,
  shaperDepartures: async () => (await import('./tasks/shaper-departures.mjs')).shaperDepartures,
  compareMemory: async () => (await import('./tasks/compare-memory.mjs')).compareMemory,
  compareRedis: async () => (await import('./tasks/compare-redis.mjs')).compareRedis,
  compareRedisBytes: async () => (await import('./tasks/compare-redis.mjs')).compareRedisBytes,
  compareHttp: async () => (await import('./tasks/compare-http.mjs')).compareHttp,
  serviceSpeed: async () => (await import('./tasks/service-speed.mjs')).serviceSpeed,
  envoyDoor: async () => (await import('./tasks/envoy-door.mjs')).envoyDoor,
  envoyRedis: async () => (await import('./tasks/envoy-redis.mjs')).envoyRedis,
  envoyLatency: async () => (await import('./tasks/envoy-latency.mjs')).envoyLatency,
  serviceRedis: async () => (await import('./tasks/service-redis.mjs')).serviceRedis,
  redisBytes: async () => (await import('./tasks/redis-bytes.mjs')).redisBytes,
}
const { task, ...options } = JSON.parse(process.argv[2])
const run = await tasks[task]()
writeSync(1, JSON.stringify(await run(options)))
// At once: there may be ten million keys, and nothing needs them any more.
process.exit()
