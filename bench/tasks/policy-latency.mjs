import { createPolicy } from 'sluice'
import { redisStore } from 'sluice/redis'
import { policies, requestFor } from '../policies.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { quantile } from '../statistics.mjs'

const KEYS = 10_000
const CALLS_A_TURN = 250
const TURNS = 60
/** The first turns are for the compiler. */
const WARM_UP_TURNS = 20

/**
 * One caller checks policies on Redis in turns, in one process. Returns, for each policy, the median latency of each turn in
 * microseconds.
 */
export async function policyLatency({ names, port }) {
  const store = redisStore(await connectIoredis(port), { deadlineMs: 5_000, onFailure: 'closed' })
  const subjects = Object.fromEntries(
    names.map((name) => [name, createPolicy({ name, levels: policies[name].levels({ capacity: 1e5 }), store })]),
  )
  const found = Object.fromEntries(names.map((name) => [name, {}]))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const name of names) {
      const medianUs = await medianOfTurn(subjects[name], turn * CALLS_A_TURN)
      if (turn >= WARM_UP_TURNS) found[name][`turn ${turn}`] = medianUs
    }
  }
  return found
}

async function medianOfTurn(policy, first) {
  const latencies = new Float64Array(CALLS_A_TURN)
  for (let i = 0; i < CALLS_A_TURN; i++) {
    const request = requestFor((first + i) % KEYS)
    const beganMs = performance.now()
    const { allowed, degraded } = await policy.check(request)
    latencies[i] = performance.now() - beganMs
    if (!allowed || degraded) throw new Error('a check was denied, or answered without Redis')
  }
  return quantile(latencies.sort(), 0.5) * 1_000
}
