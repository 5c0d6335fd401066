import { ProtoWriter } from '../../protobuf/proto-writer.js'

/**
 * A file of the protocol buffers language, as data.
 *
 * @example
 * ```ts no-check
 * const file: ProtoFile = {
 *   name: 'shop/order.proto',
 *   package: 'shop',
 *   imports: ['google/protobuf/duration.proto'],
 *   messages: { Order: { id: 'uint64 1', age: '.google.protobuf.Duration 2', 'kind.name': 'string 3', state: '.shop.Order.State 4' } },
 *   enums: { 'Order.State': ['UNKNOWN', 'SENT'] },
 *   services: { Shop: { Buy: { takes: '.shop.Order', gives: '.shop.Order' } } },
 * }
 * ```
 */
export interface ProtoFile {
  readonly name: string
  readonly package: string
  readonly imports?: readonly string[]
  /**
   * The fields of each message: `repeated string 1`. A message inside another is named `Outer.Inner`; a field of a oneof is named
   * `oneof.field`; the entry of a map begins with `map `.
   */
  readonly messages?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The values of each enum, numbered from 0. */
  readonly enums?: Readonly<Record<string, readonly string[]>>
  readonly services?: Readonly<Record<string, Readonly<Record<string, ProtoMethod>>>>
}

interface ProtoMethod {
  readonly takes: string
  readonly gives: string
  /** Which side sends many messages. */
  readonly streams?: 'server' | 'both'
}

/** Numbers of `FieldDescriptorProto.Type`. */
const TYPES: Readonly<Record<string, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
}
const MESSAGE = 11
const ENUM = 14

/** Writes a file as a `google.protobuf.FileDescriptorProto`. `enums`: the full names of all enums that its fields may have. */
export function writeProtoFile(file: ProtoFile, enums: ReadonlySet<string>): Uint8Array {
  return new FileWriter(file, enums).write()
}

/** The full names of what a file declares, with a leading dot: `.shop.Order`, `.shop.Order.State`, `.shop.Shop`, `.shop.Shop.Buy`. */
export function namesIn(file: ProtoFile, kinds: readonly ('messages' | 'enums' | 'services')[]): readonly string[] {
  return kinds.flatMap((kind) =>
    Object.entries(file[kind] ?? {}).flatMap(([name, members]) => {
      const full = `.${file.package}.${name}`
      return kind === 'services' ? [full, ...Object.keys(members).map((method) => `${full}.${method}`)] : [full]
    }),
  )
}

class FileWriter {
  readonly #file: ProtoFile
  readonly #enums: ReadonlySet<string>
  readonly #writer = new ProtoWriter()

  constructor(file: ProtoFile, enums: ReadonlySet<string>) {
    this.#file = file
    this.#enums = enums
  }

  write(): Uint8Array {
    const { name, package: packageName, imports = [], services = {} } = this.#file
    const writer = this.#writer
    writer.begin()
    writer.text(0x0a, name)
    writer.text(0x12, packageName)
    for (const each of imports) writer.text(0x1a, each)
    this.#declareIn('', 0x22, 0x2a)
    for (const [service, methods] of Object.entries(services))
      this.#inside(0x32, () => {
        writer.text(0x0a, service)
        for (const [method, about] of Object.entries(methods)) this.#inside(0x12, () => this.#method(method, about))
      })
    writer.text(0x62, 'proto3')
    return writer.end()
  }

  /** Declares the messages and enums that are directly inside a message, or inside the file. */
  #declareIn(outer: string, messageTag: number, enumTag: number): void {
    const { messages = {}, enums = {} } = this.#file
    const isDirect = (name: string) => name.startsWith(outer) && !name.slice(outer.length).includes('.')
    for (const [name, fields] of Object.entries(messages))
      if (isDirect(name)) this.#inside(messageTag, () => this.#message(name, name.slice(outer.length), fields))
    for (const [name, values] of Object.entries(enums))
      if (isDirect(name)) this.#inside(enumTag, () => this.#enum(name.slice(outer.length), values))
  }

  #message(path: string, name: string, fields: Readonly<Record<string, string>>): void {
    const writer = this.#writer
    writer.text(0x0a, name)
    const oneofs = [...new Set(Object.keys(fields).flatMap((each) => (each.includes('.') ? [each.split('.')[0]] : [])))]
    for (const [field, text] of Object.entries(fields)) this.#inside(0x12, () => this.#field(field, text, oneofs))
    this.#declareIn(`${path}.`, 0x1a, 0x22)
    // The option of a message that stands for the entries of a map.
    if (this.#isMapEntry(path)) this.#inside(0x3a, () => writer.bool(0x38, true))
    for (const oneof of oneofs) this.#inside(0x42, () => writer.text(0x0a, oneof))
  }

  /** Is it named as the type of a field that begins with `map `? */
  #isMapEntry(path: string): boolean {
    const fields = Object.values(this.#file.messages ?? {}).flatMap((each) => Object.values(each))
    return fields.some((text) => text.startsWith(`map .${this.#file.package}.${path} `))
  }

  #field(name: string, text: string, oneofs: readonly string[]): void {
    const writer = this.#writer
    const words = text.split(' ')
    const isMany = words[0] === 'repeated' || words[0] === 'map'
    const [type, number] = isMany ? words.slice(1) : words
    const [own, oneof] = name.split('.').reverse()
    writer.text(0x0a, own)
    writer.uint32(0x18, Number(number))
    writer.uint32(0x20, isMany ? 3 : 1)
    writer.uint32(0x28, TYPES[type] ?? (this.#enums.has(type) ? ENUM : MESSAGE))
    if (type.startsWith('.')) writer.text(0x32, type)
    if (oneof !== undefined) writer.uint32(0x48, oneofs.indexOf(oneof))
    writer.text(0x52, jsonName(own))
  }

  #enum(name: string, values: readonly string[]): void {
    const writer = this.#writer
    writer.text(0x0a, name)
    for (const [number, value] of values.entries())
      this.#inside(0x12, () => {
        writer.text(0x0a, value)
        writer.uint32(0x10, number)
      })
  }

  #method(name: string, { takes, gives, streams }: ProtoMethod): void {
    const writer = this.#writer
    writer.text(0x0a, name)
    writer.text(0x12, takes)
    writer.text(0x1a, gives)
    if (streams === 'both') writer.bool(0x28, true)
    if (streams !== undefined) writer.bool(0x30, true)
  }

  #inside(tag: number, write: () => void): void {
    const start = this.#writer.open(tag)
    write()
    this.#writer.close(start)
  }
}

/** `hits_addend` is `hitsAddend` in JSON. */
function jsonName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
