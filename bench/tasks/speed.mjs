import { askAll } from '../ask-all.mjs'
import { contenders } from '../contenders.mjs'
import { cpuWaitMs } from '../cpu-wait.mjs'
import { everyId, randomIds } from '../ids.mjs'

const WARM_UP_MS = 150
const MEASURED_MS = 400
const CALLS_A_PASS = 50_000
/** More than any contender needs in that time. A faster one would begin again with the first keys. */
const MOST_PASSES = 100

/**
 * The mean time of a call, in nanoseconds, after every key is known and the code is compiled. Time in which the process
 * waited for a busy CPU does not count.
 */
export async function speed({ contender, case: name, limit, keys }) {
  const create = await contenders[contender].load()
  const subject = create(limit, keys)
  await askAll(subject, everyId(keys))
  const ids = randomIds(keys, MOST_PASSES * CALLS_A_PASS)
  await askFor(WARM_UP_MS, subject, ids)
  globalThis.gc()
  const { calls, allowed, ms } = await askFor(MEASURED_MS, subject, ids)
  if (allowed !== (name === 'admitted' ? calls : 0))
    throw new Error(`${contender} allowed ${allowed} of ${calls} calls`)
  return { nsPerCall: (ms / calls) * 1e6 }
}

/** Asks in passes of many calls until this much time has passed. */
async function askFor(wantedMs, subject, ids) {
  const start = workedMs()
  let allowed = 0
  let passes = 0
  let ms = 0
  while (ms < wantedMs) {
    const from = (passes % MOST_PASSES) * CALLS_A_PASS
    allowed += await askAll(subject, ids.subarray(from, from + CALLS_A_PASS))
    passes++
    ms = workedMs() - start
  }
  return { calls: passes * CALLS_A_PASS, allowed, ms }
}

function workedMs() {
  return performance.now() - cpuWaitMs()
}
