import { connect, type Socket } from 'node:net'
import { frame, PREFACE } from '../http2/frame-client.js'

export const TYPE = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
export const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const

/** A field of a header block, as literal text that no table remembers. */
function field(name: string, value: string): Buffer {
  if (name.length > 126 || value.length > 126) throw new RangeError('a longer text needs more than one byte of length')
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

/** The header block of a call. */
export function head(path: string, more: Readonly<Record<string, string>> = {}): Buffer {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...more,
  }
  return Buffer.concat(Object.entries(fields).map(([name, value]) => field(name, value)))
}

/** A connection that sends any frames, answers PING once it has greeted, and remembers which other frames came. */
export class RawConnection {
  readonly socket: Socket
  /** Counts of frames that came, by type. */
  readonly counts = new Map<number, number>()
  /** The code of the GOAWAY that came last. */
  goawayCode: number | undefined
  isClosed = false
  #isGreeted = false
  #rest: Buffer = Buffer.alloc(0)

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.on('data', (part: Buffer) => this.#hear(part))
    this.socket.on('close', () => {
      this.isClosed = true
    })
  }

  greet(): void {
    this.#isGreeted = true
    this.socket.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0)]))
  }

  send(...frames: readonly Buffer[]): boolean {
    return !this.socket.destroyed && this.socket.write(Buffer.concat(frames))
  }

  #hear(part: Buffer): void {
    let rest = Buffer.concat([this.#rest, part])
    for (;;) {
      if (rest.length < 9) break
      const length = rest.readUIntBE(0, 3)
      if (rest.length < 9 + length) break
      const [type, flags] = [rest[3], rest[4]]
      // It lives, whatever else it does.
      if (type === TYPE.ping && flags !== FLAG.ack && this.#isGreeted)
        this.send(frame(TYPE.ping, FLAG.ack, 0, rest.subarray(9, 17)))
      else this.counts.set(type, (this.counts.get(type) ?? 0) + 1)
      if (type === TYPE.goaway) this.goawayCode = rest.readUInt32BE(9 + 4)
      rest = rest.subarray(9 + length)
    }
    this.#rest = rest
  }
}
