import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { contenders } from '../contenders.mjs'

/** Calls from this long on are looked at one by one. */
const LONG_MS = 0.1
/** How exactly the times of a garbage collection and of a call can be compared. */
const SLACK_MS = 0.02

/** How long each call takes, in milliseconds, while a contender comes to know `keys` keys, one call each. */
export async function pauses({ contender, limit, keys }) {
  const create = await contenders[contender].load()
  const collections = watchCollections()
  fill(create(limit), new Float64Array(keys / 50), [])
  const times = new Float64Array(keys)
  const long = []
  fill(create(limit), times, long)
  const pauses = await collections.stop()
  const undisturbed = long.filter((call) => !pauses.some((pause) => overlap(call, pause)))
  times.sort()
  return {
    median: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    p9999: quantile(times, 0.9999),
    slowest: times[keys - 1],
    slowestUndisturbed: Math.max(...undisturbed.map(length), slowestBelow(times, LONG_MS)),
  }
}

function fill({ ask }, times, long) {
  for (let i = 0; i < times.length; i++) {
    const key = `user:${i}`
    const start = performance.now()
    ask(key)
    const end = performance.now()
    times[i] = end - start
    if (times[i] >= LONG_MS) long.push({ start, end })
  }
}

function watchCollections() {
  const pauses = []
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      pauses.push({ start: startTime, end: startTime + duration })
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    async stop() {
      // They are reported when the event loop turns.
      await setTimeout(100)
      observer.disconnect()
      return pauses
    },
  }
}

function overlap(call, pause) {
  return call.start <= pause.end + SLACK_MS && pause.start <= call.end + SLACK_MS
}

function length({ start, end }) {
  return end - start
}

function slowestBelow(sortedTimes, limit) {
  return sortedTimes.findLast((time) => time < limit)
}

function quantile(sortedTimes, share) {
  return sortedTimes[Math.floor((sortedTimes.length - 1) * share)]
}
