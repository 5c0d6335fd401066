import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { listenError } from './listen-error.js'

/**
 * The given port, or for 0 a free one. Rejects with a `UsageError` if another process listens on it now.
 *
 * Worker threads share their port with every socket of this user that asks for it, so they alone would not notice another
 * service on it. This looks before they start, with a socket that shares nothing. Two services that both look before
 * either of them listens, within about a tenth of a second, still share the port. `option`: that which says where.
 */
export async function freePort(host: string, port: number, option = 'http'): Promise<number> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw listenError(error, { host, port, option })
  }
  const { port: found } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return found
}
