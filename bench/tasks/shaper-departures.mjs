import { setTimeout as pause } from 'node:timers/promises'
import { createShaper } from 'sluice'
import { quantile } from '../statistics.mjs'

/** The queue never runs dry: it has work for at least so long, and is looked after more often. */
const LEAST_S = 0.25
const LOOK_MS = 50

/**
 * Bursts of random size come at random times to a shaper on the real clock, for so long. Gives the rate at which they left,
 * the most that left in one turn of the event loop, and how late they were for their slots, in milliseconds.
 */
export async function shaperDepartures({ perSecond, ms }) {
  const shaper = createShaper({ drain: `${perSecond}/s`, capacity: 4 * perSecond })
  const log = departureLog()
  const all = []
  const endMs = performance.now() + ms
  while (performance.now() < endMs) {
    if (shaper.size < LEAST_S * perSecond) {
      const burst = Math.ceil((LEAST_S + Math.random()) * perSecond)
      for (let i = 0; i < burst; i++) all.push(shaper.wait().then(log.add))
    }
    await pause(Math.random() * LOOK_MS)
  }
  await Promise.all(all)
  return log.summary()
}

function departureLog() {
  const lateness = []
  let firstMs
  let lastMs
  let batch = 0
  let largestBatch = 0
  const endBatch = () => {
    largestBatch = Math.max(largestBatch, batch)
    batch = 0
  }
  return {
    add({ atMs }) {
      lastMs = performance.timeOrigin + performance.now()
      firstMs ??= lastMs
      lateness.push(lastMs - atMs)
      if (batch++ === 0) setImmediate(endBatch)
    },
    summary() {
      endBatch()
      lateness.sort((one, other) => one - other)
      return {
        departures: lateness.length,
        perSecond: ((lateness.length - 1) / (lastMs - firstMs)) * 1_000,
        largestBatch,
        earliestMs: lateness[0],
        medianMs: quantile(lateness, 0.5),
        p99Ms: quantile(lateness, 0.99),
        latestMs: lateness[lateness.length - 1],
      }
    },
  }
}
