import { huffmanCode } from '../../dist/http2/hpack/huffman-code.js'

/** Header blocks as tests want them: every representation of RFC 7541 by its name. */
export type Field = readonly [name: string, value: string]

/** A number in the low `bits` of a byte, whose other bits are `flags`. */
export function number(value: number, bits: number, flags: number): Buffer {
  const most = 2 ** bits - 1
  if (value < most) return Buffer.from([flags | value])
  const bytes = [flags | most]
  let rest = value - most
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(128 | (rest % 128))
  return Buffer.from([...bytes, rest])
}

export function text(string: string): Buffer {
  const bytes = Buffer.from(string, 'latin1')
  return Buffer.concat([number(bytes.length, 7, 0), bytes])
}

export function huffmanText(string: string): Buffer {
  const bytes = huffman(string)
  return Buffer.concat([number(bytes.length, 7, 0x80), bytes])
}

/** The Huffman code of a string, padded with ones. */
export function huffman(string: string): Buffer {
  const bits = [...Buffer.from(string, 'latin1')].map((byte) => bitsOf(byte)).join('')
  const padded = bits.padEnd(8 * Math.ceil(bits.length / 8), '1')
  return Buffer.from(padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}

export function indexed(index: number): Buffer {
  return number(index, 7, 0x80)
}

/** A field that the decoder does not remember. */
export function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}

/** A field that the decoder remembers. */
export function remembered(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), text(name), text(value)])
}

/** "The table has so many bytes from now on." */
export function tableSize(bytes: number): Buffer {
  return number(bytes, 5, 0x20)
}

export function literals(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => literal(name, value)))
}

const codes = new Map(huffmanCode.map(({ symbol, code, bits }) => [symbol, code.toString(2).padStart(bits, '0')]))

function bitsOf(symbol: number): string {
  return codes.get(symbol) as string
}
