import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** As much of a reply goes over the wire at once. */
const PACKET = 1_460

/** A way to a server that is slow: replies take a while, and only so many bytes of them pass at a time. */
export class SlowWire {
  /** How long a reply takes more. */
  latencyMs = 0
  bytesPerMs = Infinity
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
      this.#carry(far, near)
    })
  }

  static async to(port: number): Promise<SlowWire> {
    const wire = new SlowWire(port)
    wire.#listener.listen(0, '127.0.0.1')
    await once(wire.#listener, 'listening')
    return wire
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  /** Resets all connections. What is on its way is lost. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#listener.close()
    await once(this.#listener, 'close')
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
