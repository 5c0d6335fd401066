import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection on which a test writes bytes as it likes. */
export class RawClient {
  readonly socket: Socket
  #text = ''
  #isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (data: Buffer) => {
      this.#text += data.toString('latin1')
      socket.emit('news')
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isClosed = true
      socket.emit('news')
    })
  }

  static async to(url: string): Promise<RawClient> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get text(): string {
    return this.#text
  }

  /** The status codes of all answers so far. */
  get statuses(): readonly number[] {
    return [...this.#text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  }

  write(bytes: string | Buffer): void {
    this.socket.write(bytes)
  }

  /** Resolves when the test holds, after any news. Rejects if the connection closes before. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#isClosed) throw new Error(`the connection is closed after: ${this.#text.slice(0, 300)}`)
      await this.#news()
    }
  }

  /** Everything that comes until the server closes the connection. */
  async rest(): Promise<string> {
    while (!this.#isClosed) await this.#news()
    return this.#text
  }

  close(): void {
    this.socket.destroy()
  }

  /** Not `once` of node:events, which rejects if writing fails. */
  #news(): Promise<void> {
    return new Promise((resolve) => this.socket.once('news', resolve))
  }
}

/** A POST as bytes. */
export function post(path: string, body: string, fields = ''): string {
  const length = Buffer.byteLength(body)
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${fields}Content-Length: ${length}\r\n\r\n${body}`
}
