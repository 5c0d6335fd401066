import { tokenBucket } from 'sluice'
import { connectNodeRedis } from './node-redis.mjs'
import { sluiceOn } from './sluice.mjs'

export async function sluiceNodeRedis(port, { capacity, perHour }) {
  return sluiceOn(await connectNodeRedis(port), tokenBucket({ capacity, refill: `${perHour}/h` }))
}
