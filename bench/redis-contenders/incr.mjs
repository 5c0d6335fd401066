import { connectIoredis } from './ioredis.mjs'

/** Counts, and no more: nothing ever expires. What the client and a round trip cost without a script. */
export async function incr(port, { capacity }) {
  const client = await connectIoredis(port)
  return {
    ask: (key) => client.incr(key),
    isAllowed: (count) => count <= capacity,
  }
}
