import PQueue from 'p-queue'
import { interval } from './interval.mjs'

export function pQueue(perSecond) {
  const { many, ms } = interval(perSecond)
  const queue = new PQueue({ intervalCap: many, interval: ms })
  return { run: (work) => queue.add(work) }
}
