import type { Socket } from 'node:net'
import { endTogether, type Wire, wireTo } from './wire.js'

/** As much of a reply goes over the wire at once. */
const PACKET = 1_460

/** A way to a server that is slow: replies take a while, and only so many bytes of them pass at a time. */
export class SlowWire {
  /** How long a reply takes more. */
  latencyMs = 0
  bytesPerMs = Infinity
  #wire!: Wire

  static async to(port: number): Promise<SlowWire> {
    const slow = new SlowWire()
    slow.#wire = await wireTo(port, (near, far) => {
      endTogether(near, far)
      near.on('data', (asked) => far.write(asked))
      slow.#carry(far, near)
    })
    return slow
  }

  get port(): number {
    return this.#wire.port
  }

  /** Resets all connections. What is on its way is lost. */
  cut(): void {
    for (const socket of this.#wire.sockets) socket.resetAndDestroy()
  }

  stop(): Promise<void> {
    return this.#wire.stop()
  }

  #carry(from: Socket, to: Socket): void {
    const packets: { readonly dueMs: number; readonly bytes: Buffer }[] = []
    let freeMs = 0
    const deliver = () => {
      while (packets.length > 0 && packets[0].dueMs <= performance.now()) to.write(packets.shift()?.bytes ?? '')
      if (packets.length > 0) setTimeout(deliver, packets[0].dueMs - performance.now())
    }
    from.on('data', (reply) => {
      const isIdle = packets.length === 0
      for (let at = 0; at < reply.length; at += PACKET) {
        const bytes = reply.subarray(at, at + PACKET)
        freeMs = Math.max(performance.now(), freeMs) + bytes.length / this.bytesPerMs
        packets.push({ dueMs: freeMs + this.latencyMs, bytes })
      }
      if (isIdle) deliver()
    })
  }
}
