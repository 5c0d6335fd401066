import pThrottle from 'p-throttle'
import { interval } from './interval.mjs'

export function throttle(perSecond) {
  const { many, ms } = interval(perSecond)
  return { run: pThrottle({ limit: many, interval: ms })((work) => work()) }
}
