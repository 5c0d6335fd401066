import { ErrorCode, Http2Error } from '../http2-error.js'
import { END_OF_STRING, huffmanCode } from './huffman-code.js'

/**
 * Decodes Huffman-coded strings, four bits at a step. A state is an inner node of the code's tree, so there are 256. No
 * code is shorter than five bits, so a step yields at most one symbol.
 *
 *   step = next state | symbol << 8 | YIELDS or FAILS
 */
const STATES = 256
const YIELDS = 1 << 16
const FAILS = 1 << 17

const { steps, mayEnd } = buildSteps()

/** The most bytes that a coded string of this length decodes to: the shortest code has five bits. */
export function mostDecodedBytes(coded: number): number {
  return Math.floor((coded * 8) / 5)
}

/**
 * Decodes bytes[at, end) into `target`, and returns how many bytes it wrote. Throws COMPRESSION_ERROR if the string codes
 * its own end, or ends in something else than at most seven bits of padding, all of them 1.
 */
export function decodeHuffman(bytes: Uint8Array, at: number, end: number, target: Uint8Array): number {
  let state = 0
  let length = 0
  for (let i = at; i < end; i++) {
    const byte = bytes[i] as number
    const high = steps[(state << 4) | (byte >> 4)] as number
    if (high & YIELDS) target[length++] = high >> 8
    const low = steps[((high & 255) << 4) | (byte & 15)] as number
    if (low & YIELDS) target[length++] = low >> 8
    if ((high | low) & FAILS) throw new Http2Error(ErrorCode.compressionError, 'a Huffman-coded string codes its end')
    state = low & 255
  }
  if (mayEnd[state] === 0)
    throw new Http2Error(ErrorCode.compressionError, 'a Huffman-coded string ends in wrong padding')
  return length
}

/** A node is the number of a state, or `-1 - symbol` for a leaf. */
function buildTree(): Int16Array {
  const children = new Int16Array(2 * STATES)
  let nodes = 1
  for (const { symbol, code, bits } of huffmanCode) {
    let node = 0
    for (let bit = bits - 1; bit > 0; bit--) {
      const branch = 2 * node + ((code >> bit) & 1)
      if (children[branch] === 0) children[branch] = nodes++
      node = children[branch] as number
    }
    children[2 * node + (code & 1)] = -1 - symbol
  }
  return children
}

function buildSteps() {
  const children = buildTree()
  const steps = new Uint32Array(STATES << 4)
  for (let state = 0; state < STATES; state++)
    for (let nibble = 0; nibble < 16; nibble++) steps[(state << 4) | nibble] = stepFrom(children, state, nibble)
  // Padding is a prefix of the code of the end, which is all ones.
  const mayEnd = new Uint8Array(STATES)
  let node = 0
  for (let bits = 0; bits < 8; bits++) {
    mayEnd[node] = 1
    node = children[2 * node + 1] as number
  }
  return { steps, mayEnd }
}

function stepFrom(children: Int16Array, state: number, nibble: number): number {
  let node = state
  let yielded = 0
  for (let bit = 3; bit >= 0; bit--) {
    const child = children[2 * node + ((nibble >> bit) & 1)] as number
    if (child >= 0) node = child
    else {
      const symbol = -1 - child
      if (symbol === END_OF_STRING) return FAILS
      yielded = YIELDS | (symbol << 8)
      node = 0
    }
  }
  return node | yielded
}
