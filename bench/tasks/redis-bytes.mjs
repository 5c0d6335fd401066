import { askTogether } from '../ask-together.mjs'
import { everyId } from '../ids.mjs'
import { connectIoredis } from '../redis-contenders/ioredis.mjs'
import { redisContenders } from '../redis-contenders.mjs'
import { redisInfo } from '../redis-info.mjs'

const CALLERS = 256

/**
 * Bytes that Redis holds for each key after one call for every key, and its `MEMORY USAGE` of a single key after one call
 * and after a hundred.
 */
export async function redisBytes({ contender, port, limit, keys }) {
  const observer = await connectIoredis(port)
  const create = await redisContenders[contender].load()
  const subject = await create(port, limit)
  return {
    held: await heldBytes(observer, subject, keys),
    one: await memoryUsage(observer, subject, 1),
    oneAfterHundred: await memoryUsage(observer, subject, 99),
  }
}

/** Bytes that Redis holds for each key after one call for every key. The server is empty before and after. */
export async function heldBytes(observer, subject, keys) {
  const ids = everyId(keys)
  // Buffers of the connections grow before the first look at the memory.
  await askTogether(subject, { callers: CALLERS, ids: ids.subarray(0, keys / 10) })
  await observer.flushall()
  const before = await usedMemory(observer)
  await askTogether(subject, { callers: CALLERS, ids })
  const after = await usedMemory(observer)
  await expectKeys(observer, keys)
  await observer.flushall()
  return (after - before) / keys
}

async function usedMemory(observer) {
  return Number((await redisInfo(observer, 'memory')).used_memory)
}

/** What `MEMORY USAGE` says of the only key on the server, after this many more calls. */
async function memoryUsage(observer, subject, calls) {
  await askTogether(subject, { callers: 1, ids: new Uint32Array(calls).fill(12_345) })
  await expectKeys(observer, 1)
  return observer.memory('USAGE', await observer.randomkey(), 'SAMPLES', 0)
}

async function expectKeys(observer, wanted) {
  const found = await observer.dbsize()
  if (found !== wanted) throw new Error(`there are ${found} keys in Redis, not ${wanted}`)
}
