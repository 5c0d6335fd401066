import { everyId } from '../ids.mjs'
import { redisContenders } from '../redis-contenders.mjs'
import { quantile } from '../statistics.mjs'

const KEYS = 10_000
const CALLS_A_TURN = 500
const TURNS = 40
/** The first turns are for the compiler. */
const WARM_UP_TURNS = 10

/**
 * One caller asks contenders in turns, in one process, so that neither has a better place in memory or on a CPU than the
 * other. Returns, for each contender, the median latency of each turn in microseconds.
 */
export async function redisLatency({ contenders, port, limit }) {
  const subjects = {}
  for (const contender of contenders) {
    const create = await redisContenders[contender].load()
    subjects[contender] = await create(port, limit)
  }
  const ids = everyId(KEYS)
  const found = Object.fromEntries(contenders.map((contender) => [contender, {}]))
  for (let turn = 0; turn < TURNS; turn++) {
    for (const contender of contenders) {
      const medianUs = await medianOfTurn(subjects[contender], ids, turn * CALLS_A_TURN)
      if (turn >= WARM_UP_TURNS) found[contender][`turn ${turn}`] = medianUs
    }
  }
  return found
}

async function medianOfTurn({ ask, isAllowed }, ids, first) {
  const latencies = new Float64Array(CALLS_A_TURN)
  for (let i = 0; i < CALLS_A_TURN; i++) {
    const beganMs = performance.now()
    if (!isAllowed(await ask(`user:${ids[(first + i) % ids.length]}`))) throw new Error('a call was denied')
    latencies[i] = performance.now() - beganMs
  }
  return quantile(latencies.sort(), 0.5) * 1_000
}
