import { askTogether } from '../ask-together.mjs'
import { everyId } from '../ids.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { redisContenders } from '../redis-contenders.mjs'
import { redisInfo } from '../redis-info.mjs'

const CALLERS = 256

/**
 * Bytes that Redis holds for each key after all keys came once, and what it says of a single key after one call and
 * after a hundred.
 */
export async function redisBytes({ contender, port, limit, keys }) {
  const observer = await connectIoredis(port)
  const create = await redisContenders[contender].load()
  const subject = await create(port, limit)
  const everybody = everyId(keys)
  // Buffers of the connections have grown before the first look at the memory.
  await askTogether(subject, { callers: CALLERS, ids: everybody.subarray(0, keys / 10) })
  await observer.flushall()
  const before = await usedMemory(observer)
  await askTogether(subject, { callers: CALLERS, ids: everybody })
  const after = await usedMemory(observer)
  await expectKeys(observer, contender, keys)
  await observer.flushall()
  return {
    held: (after - before) / keys,
    one: await memoryUsage(observer, subject, contender, 1),
    oneAfterHundred: await memoryUsage(observer, subject, contender, 99),
  }
}

async function usedMemory(observer) {
  return Number((await redisInfo(observer, 'memory')).used_memory)
}

/** What Redis says of the only key there is, after so many more calls. */
async function memoryUsage(observer, subject, contender, calls) {
  await askTogether(subject, { callers: 1, ids: new Uint32Array(calls).fill(12_345) })
  await expectKeys(observer, contender, 1)
  return observer.memory('USAGE', await observer.randomkey(), 'SAMPLES', 0)
}

async function expectKeys(observer, contender, wanted) {
  const found = await observer.dbsize()
  if (found !== wanted) throw new Error(`${contender} left ${found} keys in Redis, not ${wanted}`)
}
