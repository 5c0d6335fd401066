import Bottleneck from 'bottleneck'
import { interval } from './interval.mjs'

export function bottleneck(perSecond) {
  const { many, ms } = interval(perSecond)
  const limiter = new Bottleneck({ minTime: perSecond >= 1e6 ? 0 : ms / many })
  return { run: (work) => limiter.schedule(async () => work()) }
}
