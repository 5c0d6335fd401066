import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server whose connections can go silent: they stay open, and nothing goes through them any more. */
export class SilentWire {
  /** How many connections were ever made. */
  connections = 0
  /** How many scripts were called on connections that had gone silent. */
  scriptsLost = 0
  #isBlackHole = false
  /** Both ends of each connection, and whether it has gone silent. */
  readonly #pairs = new Set<{ readonly ends: readonly Socket[]; isSilent: boolean }>()
  readonly #listener

  private constructor(port: number) {
    this.#listener = createServer({ noDelay: true }, (near) => {
      this.connections++
      const far = connect({ port, host: '127.0.0.1', noDelay: true })
      const pair = { ends: [near, far], isSilent: this.#isBlackHole }
      this.#pairs.add(pair)
      for (const end of pair.ends) end.on('error', () => {})
      near.on('data', (asked) => {
        if (pair.isSilent)
          this.scriptsLost += asked.toString('latin1').match(/\$(?:7\r\nEVALSHA|4\r\nEVAL)\r\n/gi)?.length ?? 0
        else far.write(asked)
      })
      far.on('data', (reply) => {
        if (!pair.isSilent) near.write(reply)
      })
      near.on('close', () => {
        far.destroy()
        this.#pairs.delete(pair)
      })
      far.on('close', () => {
        if (!pair.isSilent) near.destroy()
      })
    })
  }

  static async to(port: number): Promise<SilentWire> {
    const wire = new SilentWire(port)
    wire.#listener.listen(0, '127.0.0.1')
    await once(wire.#listener, 'listening')
    return wire
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  /** All connections that are open now go silent, for ever. New ones work. */
  silence(): void {
    for (const pair of this.#pairs) pair.isSilent = true
  }

  /** All connections go silent, and so do new ones until `endBlackHole`. Those that were made before that stay silent. */
  beginBlackHole(): void {
    this.#isBlackHole = true
    this.silence()
  }

  endBlackHole(): void {
    this.#isBlackHole = false
  }

  async stop(): Promise<void> {
    for (const { ends } of this.#pairs) for (const end of ends) end.destroy()
    this.#listener.close()
    await once(this.#listener, 'close')
  }
}
