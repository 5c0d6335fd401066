import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { FrameFlag, FrameType } from '../../dist/http2/frame-type.js'
import { HeaderDecoder } from '../../dist/http2/hpack/header-decoder.js'
import { type Field, literals } from './hpack-encoding.js'

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
export const END_HEADERS = FrameFlag.endHeaders
export const END_STREAM = FrameFlag.endStream
export const END = END_HEADERS | END_STREAM

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

export function frame(type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(streamId, 5)
  return Buffer.concat([head, payload])
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function settings(...pairs: readonly (readonly [setting: number, value: number])[]): Buffer {
  const payload = pairs.map(([setting, value]) => Buffer.concat([Buffer.from([setting >> 8, setting]), uint32(value)]))
  return frame(FrameType.settings, 0, 0, Buffer.concat(payload))
}

export const ping = (flags = 0) => frame(FrameType.ping, flags, 0, Buffer.from('12345678'))
export const reset = (streamId: number, code = 8) => frame(FrameType.rstStream, 0, streamId, uint32(code))
export const windowUpdate = (streamId: number, by: number) => frame(FrameType.windowUpdate, 0, streamId, uint32(by))
export const data = (streamId: number, bytes: Uint8Array, flags: number = END_STREAM) =>
  frame(FrameType.data, flags, streamId, bytes)

/** The fields of a call. */
export function callFields(path: string, ...more: readonly Field[]): Field[] {
  return [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'test'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ...more,
  ]
}

export function headers(streamId: number, fields: readonly Field[], flags: number = END_HEADERS): Buffer {
  return frame(FrameType.headers, flags, streamId, literals(fields))
}

/** A message with its prefix. */
export function framed(message: string | Uint8Array, flag = 0): Buffer {
  const bytes = Buffer.from(message)
  return Buffer.concat([Buffer.from([flag]), uint32(bytes.length), bytes])
}

/** A whole unary call. */
export function call(streamId: number, path: string, message: string | Uint8Array = '', ...more: Field[]): Buffer {
  return Buffer.concat([headers(streamId, callFields(path, ...more)), data(streamId, framed(message))])
}

/** What came on a stream. */
export interface Answer {
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly trailers: Readonly<Record<string, string>>
  /** The code of an RST_STREAM. */
  readonly resetCode: number | undefined
}

/** A client that sends any bytes, and sees every frame. It grants no window but what a test sends. */
export class FrameClient {
  readonly frames: Frame[] = []
  readonly closed: Promise<unknown>
  readonly socket: Socket
  isClosed = false
  #rest = Buffer.alloc(0)
  readonly #decoder = new HeaderDecoder(4_096)
  readonly #fields = new Map<Frame, Readonly<Record<string, string>>>()
  readonly #watchers = new Set<() => void>()

  private constructor(socket: Socket) {
    this.socket = socket
    this.closed = once(socket, 'close').then(() => {
      this.isClosed = true
      this.#tell()
    })
    socket.on('error', () => {})
    socket.on('data', (chunk) => this.#read(chunk))
  }

  /** Connects without a word. */
  static async connect(port: number): Promise<FrameClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new FrameClient(socket)
  }

  /** Connects, and greets the server as a client does. */
  static async open(port: number, greeting: Buffer = settings()): Promise<FrameClient> {
    const client = await FrameClient.connect(port)
    client.send(PREFACE, greeting)
    await client.next(({ type, flags }) => type === FrameType.settings && flags === FrameFlag.ack)
    client.send(frame(FrameType.settings, FrameFlag.ack, 0))
    return client
  }

  send(...parts: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(parts))
  }

  close(): void {
    this.socket.destroy()
  }

  /** The first frame that fits, also one that has come already. Rejects if the connection closes without it. */
  async next(fits: (frame: Frame) => boolean): Promise<Frame> {
    let found: Frame | undefined
    await this.until(() => {
      found = this.frames.find(fits)
      return found !== undefined
    })
    return found as Frame
  }

  /** Waits until something is true, which is looked at after each read. */
  async until(isTrue: () => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const watch = () => {
        if (isTrue()) resolve()
        else if (this.isClosed) reject(new Error(`the connection was closed: ${this.goawayText ?? 'without GOAWAY'}`))
        else return
        this.#watchers.delete(watch)
      }
      this.#watchers.add(watch)
      watch()
    })
  }

  /** What came on a stream when it has ended. */
  async answer(streamId: number): Promise<Answer> {
    const own = () => this.frames.filter((each) => each.streamId === streamId)
    const isEnd = ({ type, flags }: Frame) =>
      type === FrameType.rstStream || ((type === FrameType.headers || type === FrameType.data) && (flags & 1) !== 0)
    await this.until(() => own().some(isEnd))
    const frames = own()
    const [head = {}, trailers = head] = frames
      .map((each) => this.#fields.get(each))
      .filter((each) => each !== undefined)
    return {
      fields: head,
      body: Buffer.concat(frames.filter(({ type }) => type === FrameType.data).map(({ payload }) => payload)),
      trailers,
      resetCode: frames.find(({ type }) => type === FrameType.rstStream)?.payload.readUInt32BE(),
    }
  }

  /** The code of the last GOAWAY, when the server has closed the connection. */
  async goaway(): Promise<number | undefined> {
    await this.closed
    return this.#goaway?.payload.readUInt32BE(4)
  }

  get goawayText(): string | undefined {
    return this.#goaway?.payload.toString('utf8', 8)
  }

  get #goaway(): Frame | undefined {
    return this.frames.findLast(({ type }) => type === FrameType.goaway)
  }

  #read(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= 9) {
      const end = at + 9 + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      const payload = bytes.subarray(at + 9, end)
      const read = { type: bytes[at + 3], flags: bytes[at + 4], streamId: bytes.readUInt32BE(at + 5), payload }
      if (read.type === FrameType.headers) this.#fields.set(read, this.#decode(payload))
      this.frames.push(read)
      at = end
    }
    this.#rest = bytes.subarray(at)
    this.#tell()
  }

  #decode(block: Buffer): Readonly<Record<string, string>> {
    const fields: Record<string, string> = {}
    const field = ({ name, value }: { readonly name: string; readonly value: string }) => {
      fields[name] = value
    }
    this.#decoder.decode(block, 0, block.length, { field })
    return fields
  }

  #tell(): void {
    for (const watch of [...this.#watchers]) watch()
  }
}
