import { askAll } from '../ask-all.mjs'
import { contenders } from '../contenders.mjs'
import { everyId, randomIds } from '../ids.mjs'

const WARM_UP_KEYS = 10_000
const WARM_UP_CALLS = 1_000_000

/**
 * Bytes that a contender holds for each key after one call for every key and as many calls for random keys. Key strings
 * count if the contender keeps them; the benchmark itself keeps none.
 */
export async function bytes({ contender, limit, keys }) {
  const create = await contenders[contender].load()
  // Code is compiled, and the heap's young space has grown, before the first look at the memory.
  await askAll(create(limit), randomIds(WARM_UP_KEYS, WARM_UP_CALLS))
  const everyKey = everyId(keys)
  const randomKeys = randomIds(keys, keys)
  const before = memory()
  const subject = create(limit)
  await askAll(subject, everyKey)
  await askAll(subject, randomKeys)
  const after = memory()
  return {
    held: (after.held - before.held) / keys,
    resident: (after.resident - before.resident) / keys,
    told: subject.storeBytes && subject.storeBytes() / keys,
  }
}

function memory() {
  for (let i = 0; i < 3; i++) globalThis.gc()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { held: heapUsed + external, resident: rss }
}
