import { fixedWindow, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { connectIoredis } from './ioredis.mjs'
import { sluiceOn } from './sluice.mjs'

async function sluice(port, limit) {
  return sluiceOn(await connectIoredis(port), limit)
}

export function sluiceTokenBucket(port, { capacity, perHour }) {
  return sluice(port, tokenBucket({ capacity, refill: `${perHour}/h` }))
}

export function sluiceLeakyBucket(port, { capacity, perHour }) {
  return sluice(port, leakyBucket({ capacity, drain: `${perHour}/h` }))
}

export function sluiceFixedWindow(port, { capacity }) {
  return sluice(port, fixedWindow({ quota: capacity, window: '1h' }))
}

export function sluiceSlidingWindow(port, { capacity }) {
  return sluice(port, slidingWindow({ quota: capacity, window: '1h' }))
}

export function sluiceSlidingLog(port, { capacity }) {
  return sluice(port, slidingLog({ quota: capacity, window: '1h' }))
}
