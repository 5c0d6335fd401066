// Read once, because the global is a getter.
const { performance } = globalThis

/**
 * Lets `callers` callers ask a contender at the same time. Each asks again as soon as it has its answer, until every id was
 * asked for or `ms` have passed. Returns the number of calls, how many were allowed, and the latency of each.
 */
export async function askTogether(contender, { callers, ids, ms = Number.POSITIVE_INFINITY }) {
  const startMs = performance.now()
  const run = { ids, asked: 0, answered: 0, allowed: 0, latencies: new Float64Array(ids.length), endMs: startMs + ms }
  await Promise.all(Array.from({ length: callers }, () => askOnAndOn(contender, run)))
  const latencies = run.latencies.subarray(0, run.answered)
  return { calls: run.answered, allowed: run.allowed, latencies, ms: performance.now() - startMs }
}

/** Reads the clock once for each call: the reading ends this call and begins the next. */
async function askOnAndOn({ ask, isAllowed }, run) {
  let now = performance.now()
  while (now < run.endMs && run.asked < run.ids.length) {
    const key = `user:${run.ids[run.asked++]}`
    try {
      if (isAllowed(await ask(key))) run.allowed++
    } catch (denial) {
      if (denial instanceof Error) throw denial
    }
    const beganMs = now
    now = performance.now()
    run.latencies[run.answered++] = now - beganMs
  }
}
