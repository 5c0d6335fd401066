import type { ProtoWriter } from '../protobuf/proto-writer.js'

/** Values that are nested deeper are left out: a reader may refuse more than 100 messages inside each other. */
const MOST_DEPTH = 30

/** Writes plain JSON as the fields of a `google.protobuf.Struct`. What JSON does not have, such as a function, is left out. */
export function writeStruct(writer: ProtoWriter, fields: object, depth = 0): void {
  if (depth > MOST_DEPTH) return
  for (const [name, value] of Object.entries(fields)) {
    if (!isJson(value)) continue
    const entry = writer.open(0x0a)
    writer.text(0x0a, name)
    const start = writer.open(0x12)
    writeValue(writer, value, depth)
    writer.close(start)
    writer.close(entry)
  }
}

/** Writes the fields of a `google.protobuf.Value`, of which one is always set. */
function writeValue(writer: ProtoWriter, value: unknown, depth: number): void {
  if (typeof value === 'string') writer.text(0x1a, value)
  else if (typeof value === 'boolean') writer.bool(0x20, value)
  else if (typeof value === 'number' && Number.isFinite(value)) writer.double(0x11, value)
  else if (Array.isArray(value)) writeList(writer, value, depth + 1)
  else if (typeof value === 'object' && value !== null) {
    const start = writer.open(0x2a)
    writeStruct(writer, value, depth + 1)
    writer.close(start)
  } else writer.uint32(0x08, 0)
}

function writeList(writer: ProtoWriter, values: readonly unknown[], depth: number): void {
  const start = writer.open(0x32)
  for (const value of depth > MOST_DEPTH ? [] : values) {
    const each = writer.open(0x0a)
    writeValue(writer, value, depth)
    writer.close(each)
  }
  writer.close(start)
}

function isJson(value: unknown): boolean {
  return value === null || ['string', 'boolean', 'number', 'object'].includes(typeof value)
}
