import { setTimeout as later } from 'node:timers/promises'
import {
  type ChannelCredentials,
  Client,
  type ClientReadableStream,
  credentials,
  type Metadata,
  Metadata as MetadataClass,
  type ServiceError,
} from '@grpc/grpc-js'

const asIs = (bytes: Buffer) => bytes

/** A client of `@grpc/grpc-js`, which sends and gets bytes. */
export class GrpcClient {
  readonly #client: Client

  constructor(port: number, options: { readonly credentials?: ChannelCredentials; readonly host?: string } = {}) {
    const { credentials: given = credentials.createInsecure(), host = '127.0.0.1' } = options
    this.#client = new Client(`${host}:${port}`, given, { 'grpc.use_local_subchannel_pool': 1 })
  }

  /** Rejects with the status of an error. */
  unary(path: string, message: Uint8Array, options: { timeoutMs?: number; metadata?: Record<string, string> } = {}) {
    const metadata: Metadata = new MetadataClass()
    for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value)
    const deadline = options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs }
    return new Promise<Buffer>((resolve, reject) => {
      const done = (error: ServiceError | null, answer?: Buffer) => {
        if (error === null) resolve(answer ?? Buffer.alloc(0))
        else reject(error)
      }
      this.#client.makeUnaryRequest(path, asIs, asIs, Buffer.from(message), metadata, deadline, done)
    })
  }

  /** The status of a call that fails: `[code, details]`. */
  async failure(...args: Parameters<GrpcClient['unary']>): Promise<readonly [number, string]> {
    try {
      await this.unary(...args)
    } catch (error) {
      const { code, details } = error as ServiceError
      return [code, details]
    }
    throw new Error('the call did not fail')
  }

  serverStream(path: string, message: Uint8Array): ClientReadableStream<Buffer> {
    return this.#client.makeServerStreamRequest(path, asIs, asIs, Buffer.from(message))
  }

  bidiStream(path: string) {
    return this.#client.makeBidiStreamRequest(path, asIs, asIs)
  }

  close(): void {
    this.#client.close()
  }
}

/** Waits until `isTrue`, at most five seconds. */
export async function until(isTrue: () => boolean): Promise<void> {
  const endMs = performance.now() + 5_000
  while (!isTrue()) {
    if (performance.now() > endMs) throw new Error('it did not become true within five seconds')
    await later(5)
  }
}
