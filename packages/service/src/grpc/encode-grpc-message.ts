/** A field that is longer may exceed what a client takes for all fields. */
const MOST_CHARACTERS = 1_024

/**
 * Percent-encodes a text for `grpc-message`: every byte of UTF-8 but visible ASCII, space and no percent sign. A long text is cut.
 */
export function encodeGrpcMessage(text: string): string {
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text
  return short.replace(/[^ -$&-~]+/g, (part) => [...Buffer.from(part)].map((byte) => `%${hex(byte)}`).join(''))
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0')
}
