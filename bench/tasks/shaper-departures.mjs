import { setTimeout as pause } from 'node:timers/promises'
import { createShaper } from 'sluice'
import { quantile } from '../statistics.mjs'

/** The queue never runs dry: it is refilled more often than it could. */
const LOOK_MS = 50
const LEAST_JOBS = 3
/** The share of departures that is left out at the beginning, while code is compiled. */
const WARM_UP = 0.1

/**
 * Bursts of random size, each with work for about `burstMs`, arrive at random times at a shaper on the real clock. Returns
 * the rate of departures, the largest crowd (departures in one turn of the event loop, less those that the rate allows in
 * the time of the turn), and how much later than their slots departures were, in milliseconds.
 */
export async function shaperDepartures({ perSecond, burstMs, ms }) {
  const shaper = createShaper({ drain: `${perSecond}/s`, capacity: Math.max(20, 4 * perSecond) })
  const usual = Math.max(LEAST_JOBS, (perSecond * burstMs) / 1_000)
  const log = departureLog(perSecond)
  const endMs = performance.now() + ms
  while (performance.now() < endMs) {
    const burst = shaper.size < usual ? Math.ceil((0.5 + Math.random()) * usual) : 0
    for (let i = 0; i < burst; i++) shaper.wait().then(log.add)
    await pause(Math.random() * LOOK_MS)
  }
  await shaper.close()
  return log.summary()
}

function departureLog(perSecond) {
  const times = []
  const lateness = []
  let batchFrom = 0
  let largestCrowd = 0
  const endBatch = () => {
    const batch = times.length - batchFrom
    if (batch === 0) return
    const tookMs = times[times.length - 1] - times[batchFrom]
    largestCrowd = Math.max(largestCrowd, batch - (tookMs * perSecond) / 1_000)
    batchFrom = times.length
  }
  return {
    add({ atMs }) {
      const nowMs = performance.timeOrigin + performance.now()
      if (times.length === batchFrom) setImmediate(endBatch)
      times.push(nowMs)
      lateness.push(nowMs - atMs)
    },
    summary() {
      endBatch()
      lateness.sort((one, other) => one - other)
      return {
        departures: times.length,
        perSecond: 1_000 / slope(times.slice(times.length * WARM_UP)),
        largestCrowd,
        medianMs: quantile(lateness, 0.5),
        p99Ms: quantile(lateness, 0.99),
        latestMs: lateness[lateness.length - 1],
      }
    },
  }
}

/** The mean distance between values by least squares: it does not depend on how late the first and the last are. */
function slope(values) {
  const middle = (values.length - 1) / 2
  const [first] = values
  let product = 0
  let square = 0
  for (const [i, value] of values.entries()) {
    product += (i - middle) * (value - first)
    square += (i - middle) ** 2
  }
  return product / square
}
