import { type Wire, wireTo } from './wire.js'

/** A way to a server whose connections can go silent: they stay open, and nothing goes through them any more. */
export class SilentWire {
  /** How many connections were ever made. */
  connections = 0
  /** How many scripts were called on connections that had gone silent. */
  scriptsLost = 0
  #isBlackHole = false
  /** Of each connection that is open, whether it has gone silent. */
  readonly #links = new Set<{ isSilent: boolean }>()
  #wire!: Wire

  static async to(port: number): Promise<SilentWire> {
    const silent = new SilentWire()
    silent.#wire = await wireTo(port, (near, far) => {
      silent.connections++
      const link = { isSilent: silent.#isBlackHole }
      silent.#links.add(link)
      near.on('data', (asked) => {
        if (link.isSilent)
          silent.scriptsLost += asked.toString('latin1').match(/\$(?:7\r\nEVALSHA|4\r\nEVAL)\r\n/gi)?.length ?? 0
        else far.write(asked)
      })
      far.on('data', (reply) => {
        if (!link.isSilent) near.write(reply)
      })
      near.on('close', () => {
        far.destroy()
        silent.#links.delete(link)
      })
      far.on('close', () => {
        if (!link.isSilent) near.destroy()
      })
    })
    return silent
  }

  get port(): number {
    return this.#wire.port
  }

  /** All connections that are open now go silent, for ever. New ones work. */
  silence(): void {
    for (const link of this.#links) link.isSilent = true
  }

  /** All connections go silent, and so do new ones until `endBlackHole`. Those that were made before that stay silent. */
  beginBlackHole(): void {
    this.#isBlackHole = true
    this.silence()
  }

  endBlackHole(): void {
    this.#isBlackHole = false
  }

  stop(): Promise<void> {
    return this.#wire.stop()
  }
}
