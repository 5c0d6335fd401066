import { askAll } from '../ask-all.mjs'
import { contenders } from '../contenders.mjs'
import { everyId, randomIds } from '../ids.mjs'

/** The mean time of a call, in nanoseconds, once every key is known and the compiler has seen it all. */
export async function speed({ contender, case: name, limit, keys, calls, warmUpCalls }) {
  const create = await contenders[contender].load()
  const subject = create(limit)
  await askAll(subject, everyId(keys))
  await askAll(subject, randomIds(keys, warmUpCalls, 1))
  const ids = randomIds(keys, calls, 2)
  globalThis.gc()
  const start = performance.now()
  const count = await askAll(subject, ids)
  const nsPerCall = ((performance.now() - start) / calls) * 1e6
  if (count !== (name === 'admitted' ? calls : 0)) throw new Error(`${contender} allowed ${count} of ${calls} calls`)
  return { nsPerCall }
}
