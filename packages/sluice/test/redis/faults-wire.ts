import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A way to a server that can be cut, in the middle of what the server says, or be slow. */
export class FaultyWire {
  /** How many connections were cut. */
  cuts = 0
  /** How long a reply takes more. */
  delayMs = 0
  #cutting = false
  readonly #sockets = new Set<Socket>()
  readonly #listener

  private constructor(port: number) {
    this.#listener = createServer({ noDelay: true }, (near) => {
      const far = connect({ port, host: '127.0.0.1', noDelay: true })
      for (const [one, other] of [
        [near, far],
        [far, near],
      ]) {
        this.#sockets.add(one)
        one.on('error', () => {})
        one.on('close', () => {
          this.#sockets.delete(one)
          other.destroy()
        })
      }
      near.on('data', (asked) => far.write(asked))
      far.on('data', (reply) => void this.#answer(near, far, reply))
    })
  }

  static async to(port: number): Promise<FaultyWire> {
    const wire = new FaultyWire(port)
    wire.#listener.listen(0, '127.0.0.1')
    await once(wire.#listener, 'listening')
    return wire
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  /** The next reply ends in its middle, and both sides are reset. */
  cutNextReply(): void {
    this.#cutting = true
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  async #answer(near: Socket, far: Socket, reply: Buffer): Promise<void> {
    if (this.delayMs > 0) await pause(this.delayMs)
    if (!this.#cutting) {
      near.write(reply)
      return
    }
    this.#cutting = false
    near.write(reply.subarray(0, Math.ceil(reply.length / 2)), () => {
      this.cuts++
      near.resetAndDestroy()
      far.resetAndDestroy()
    })
  }
}
