import { contenders } from '../contenders.mjs'
import { cpuWaitMs } from '../cpu-wait.mjs'
import { quantile } from '../statistics.mjs'
import { watchCollections } from '../watch-collections.mjs'

/** Calls that take at least this long are examined one by one. */
const LONG_MS = 0.1
/** The times of a garbage collection and of a call can be compared this exactly. */
const SLACK_MS = 0.02
/** The wait for a CPU is read after this many calls, so that the wait of a long call is known closely enough. */
const CALLS_A_LOOK = 500

/**
 * How long calls take, in milliseconds, while a contender meets `keys` new keys, with one call for each. `slowestNoGc` is
 * the slowest call without garbage collection in it; `slowestOwn` also leaves out the time that the call waited for a CPU.
 */
export async function pauses({ contender, limit, keys }) {
  const create = await contenders[contender].load()
  fill(create(limit), keys / 50)
  const collections = watchCollections()
  const { times, long } = fill(create(limit), keys)
  const pauses = await collections.stop()
  const undisturbed = long.filter((call) => !pauses.some((pause) => overlap(call, pause)))
  times.sort()
  return {
    median: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    p9999: quantile(times, 0.9999),
    slowestOwn: Math.max(slowestBelow(times, LONG_MS), ...undisturbed.map(ownTime)),
    slowestNoGc: Math.max(slowestBelow(times, LONG_MS), ...undisturbed.map(wholeTime)),
    slowest: times[keys - 1],
  }
}

function fill({ ask }, keys) {
  const times = new Float64Array(keys)
  const long = []
  let waitedMs = cpuWaitMs()
  for (let i = 0; i < keys; i++) {
    const key = `user:${i}`
    const start = performance.now()
    ask(key)
    const end = performance.now()
    times[i] = end - start
    if (times[i] < LONG_MS && i % CALLS_A_LOOK !== 0) continue
    const nowWaitedMs = cpuWaitMs()
    if (times[i] >= LONG_MS) long.push({ start, end, waitedMs: nowWaitedMs - waitedMs })
    waitedMs = nowWaitedMs
  }
  return { times, long }
}

function overlap(call, pause) {
  return call.start <= pause.end + SLACK_MS && pause.start <= call.end + SLACK_MS
}

function wholeTime({ start, end }) {
  return end - start
}

function ownTime({ start, end, waitedMs }) {
  return end - start - waitedMs
}

function slowestBelow(sortedTimes, limit) {
  return sortedTimes.findLast((time) => time < limit)
}
