import { ProtoReader } from '../../protobuf/proto-reader.js'
import { ProtoWriter } from '../../protobuf/proto-writer.js'
import { GRPC_STATUS } from '../grpc-error.js'
import type { GrpcMethod, StreamMethod } from '../grpc-method.js'
import { googleFiles } from './google-files.js'
import { namesIn, type ProtoFile, writeProtoFile } from './proto-file.js'
import { reflectionFiles } from './reflection-files.js'

const reader = new ProtoReader()
const writer = new ProtoWriter()

/**
 * The methods of server reflection, `v1` and `v1alpha`: a client such as `grpcurl` asks which services there are, and for the
 * files that declare them.
 */
export function reflectionMethods(files: readonly ProtoFile[]): ReadonlyMap<string, GrpcMethod> {
  const known = new KnownFiles([...files, ...reflectionFiles, ...googleFiles])
  const info: StreamMethod = {
    kind: 'stream',
    open: (call) => ({
      message: (message) => call.send(answerTo(message, known)),
      clientEnded: () => call.end(),
      closed: () => {},
    }),
  }
  return new Map(
    reflectionFiles.map((file) => [`/${file.package}.ServerReflection/ServerReflectionInfo`, info] as const),
  )
}

/** The files that the server has, ready to be sent. */
class KnownFiles {
  readonly services: readonly string[]
  readonly #byName: ReadonlyMap<string, ProtoFile>
  readonly #bySymbol: ReadonlyMap<string, ProtoFile>
  readonly #enums: ReadonlySet<string>
  readonly #written = new Map<ProtoFile, Uint8Array>()

  constructor(files: readonly ProtoFile[]) {
    this.services = files.flatMap((file) =>
      Object.keys(file.services ?? {}).map((service) => `${file.package}.${service}`),
    )
    this.#byName = new Map(files.map((file) => [file.name, file]))
    this.#bySymbol = new Map(
      files.flatMap((file) =>
        namesIn(file, ['messages', 'enums', 'services']).map((name) => [name.slice(1), file] as const),
      ),
    )
    this.#enums = new Set(files.flatMap((file) => namesIn(file, ['enums'])))
  }

  hasMessage(symbol: string): boolean {
    return this.#bySymbol.has(symbol)
  }

  /** A file and all that it imports; `undefined` if there is no such file. */
  named(name: string): readonly Uint8Array[] | undefined {
    return this.#withImports(this.#byName.get(name))
  }

  /** The same for the file that declares a symbol. */
  declaring(symbol: string): readonly Uint8Array[] | undefined {
    return this.#withImports(this.#bySymbol.get(symbol))
  }

  #withImports(file: ProtoFile | undefined): readonly Uint8Array[] | undefined {
    if (file === undefined) return undefined
    const all = new Set([file])
    // The set grows while it is gone through.
    for (const each of all)
      for (const name of each.imports ?? []) {
        const imported = this.#byName.get(name)
        if (imported !== undefined) all.add(imported)
      }
    return [...all].map((each) => this.#bytesOf(each))
  }

  #bytesOf(file: ProtoFile): Uint8Array {
    let bytes = this.#written.get(file)
    if (bytes === undefined) {
      bytes = writeProtoFile(file, this.#enums)
      this.#written.set(file, bytes)
    }
    return bytes
  }
}

interface Question {
  readonly host: string
  /** The tag of the field that asks; 0 if none does. */
  readonly kind: number
  readonly text: string
}

/** Tags of what a client may ask. */
const ASKS = { file: 0x1a, symbol: 0x22, extension: 0x2a, extensions: 0x32, services: 0x3a } as const

/** Answers one `ServerReflectionRequest`. */
function answerTo(message: Uint8Array, known: KnownFiles): Uint8Array {
  const { host, kind, text } = readQuestion(message)
  const files = kind === ASKS.file ? known.named(text) : kind === ASKS.symbol ? known.declaring(text) : undefined
  writer.begin()
  if (host !== '') writer.text(0x0a, host)
  writer.bytes(0x12, message)
  if (files !== undefined) {
    inside(0x22, () => {
      for (const file of files) writer.bytes(0x0a, file)
    })
  } else if (kind === ASKS.extensions && known.hasMessage(text)) inside(0x2a, () => writer.text(0x0a, text))
  else if (kind === ASKS.services) {
    inside(0x32, () => {
      for (const name of known.services) inside(0x0a, () => writer.text(0x0a, name))
    })
  } else {
    inside(0x3a, () => {
      writer.uint32(0x08, kind === 0 ? GRPC_STATUS.invalidArgument : GRPC_STATUS.notFound)
      writer.text(0x12, kind === 0 ? 'the request asks for nothing' : `there is no ${shown(kind)} ${text}`.trim())
    })
  }
  return writer.end()
}

function readQuestion(message: Uint8Array): Question {
  let host = ''
  let kind = 0
  let text = ''
  reader.begin(message)
  for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
    if (tag === 0x0a) host = reader.text()
    else if (tag === ASKS.extension) {
      kind = tag
      text = ''
      reader.skip(tag)
    } else if (Object.values(ASKS).includes(tag as never)) {
      kind = tag
      text = reader.text()
    } else reader.skip(tag)
  }
  return { host, kind, text: text.slice(0, 200) }
}

function shown(kind: number): string {
  if (kind === ASKS.file) return 'file'
  return kind === ASKS.extension ? 'extension' : 'symbol'
}

function inside(tag: number, write: () => void): void {
  const start = writer.open(tag)
  write()
  writer.close(start)
}
