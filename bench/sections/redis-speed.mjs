import { versions } from '../versions.mjs'
import { withRedis } from '../with-redis.mjs'
import { redisSpeedGoals } from './redis-speed/goals.mjs'
import { measureRedisSpeed } from './redis-speed/measure.mjs'
import { renderRedisSpeed } from './redis-speed/render.mjs'

const packages = ['sluice', 'ioredis', 'redis', 'rate-limiter-flexible', 'rate-limit-redis']

/** The cost of a decision on Redis. */
export const redisSpeed = {
  name: 'redis-speed',
  title: 'Redis: time of a decision',
  measure: ({ full }) =>
    withRedis((port, version) => ({
      versions: { 'Redis server': version, ...versions(packages) },
      cases: measureRedisSpeed({ full, port }),
    })),
  render: renderRedisSpeed,
  goals: redisSpeedGoals,
}
