import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { endTogether, type Wire, wireTo } from './wire.js'

/** A way to a server that can be cut, in the middle of what the server says, or be slow. */
export class FaultyWire {
  /** How many connections were cut. */
  cuts = 0
  /** How long a reply takes more. */
  delayMs = 0
  #cutting = false
  #wire!: Wire

  static async to(port: number): Promise<FaultyWire> {
    const faulty = new FaultyWire()
    faulty.#wire = await wireTo(port, (near, far) => {
      endTogether(near, far)
      near.on('data', (asked) => far.write(asked))
      far.on('data', (reply) => void faulty.#answer(near, far, reply))
    })
    return faulty
  }

  get port(): number {
    return this.#wire.port
  }

  /** The next reply ends in its middle, and both sides are reset. */
  cutNextReply(): void {
    this.#cutting = true
  }

  stop(): Promise<void> {
    return this.#wire.stop()
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
