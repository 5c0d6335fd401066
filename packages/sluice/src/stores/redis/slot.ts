/** Redis Cluster keeps a key in one of this many slots, by the CRC-16 (XMODEM) of its hash tag. */
const SLOTS = 16_384

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

const encoder = new TextEncoder()

/** The slot of a hash tag: of what stands between a key's braces. */
export function slotOf(tag: string): number {
  let crc = 0
  for (const byte of encoder.encode(tag)) crc = ((crc << 8) & 0xffff) ^ TABLE[(crc >> 8) ^ byte]
  return crc % SLOTS
}
