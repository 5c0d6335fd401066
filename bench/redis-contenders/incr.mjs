import { connectIoredis } from './ioredis.mjs'

/** Only counts, and no key expires: the cost of the client and a round trip without a script. */
export async function incr(port, { capacity }) {
  const client = await connectIoredis(port)
  return {
    ask: (key) => client.incr(key),
    isAllowed: (count) => count <= capacity,
  }
}
