// Held, because the global is a getter.
const { performance } = globalThis

/**
 * Lets so many callers ask a contender at a time, each again as soon as it has its answer, until all ids were asked for
 * or so much time has gone. Gives how many calls there were, how many were allowed, and how long each took.
 */
export async function askTogether(contender, { callers, ids, ms = Number.POSITIVE_INFINITY }) {
  const startMs = performance.now()
  const run = { ids, asked: 0, answered: 0, allowed: 0, latencies: new Float64Array(ids.length), endMs: startMs + ms }
  await Promise.all(Array.from({ length: callers }, () => askOnAndOn(contender, run)))
  const latencies = run.latencies.subarray(0, run.answered)
  return { calls: run.answered, allowed: run.allowed, latencies, ms: performance.now() - startMs }
}

/** One reading of the clock a call: it ends one and begins the next. */
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
