/**
 * Internet addresses as numbers, so that all spellings of one address are equal. An IPv4 address written as IPv6
 * (`::ffff:1.2.3.4`) is an IPv4 address. A text that programs read differently (`01.2.3.4`, `127.1`) is not an address.
 */

/** Groups of 16 bits, the most significant first. An IPv4 address has two, an IPv6 address has eight. */
export type Address = readonly number[]

const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/
const HEXTET = /^[\da-f]{1,4}$/i
/** Long enough for `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255` with a zone and a port. */
const LONGEST = 128

/** Reads an address, with or without brackets, a port or a zone. Returns `undefined` if the text is not an address. */
export function parseAddress(text: string): Address | undefined {
  if (text.length > LONGEST) return undefined
  const [, bracketed, beforePort] = WITH_PORT.exec(text) ?? []
  const written = bracketed ?? beforePort ?? text
  if (!written.includes(':')) return bracketed === undefined ? parseV4(written) : undefined
  const zone = written.indexOf('%')
  const groups = parseV6(zone < 0 ? written : written.slice(0, zone))
  return groups !== undefined && isMapped(groups) ? groups.slice(6) : groups
}

/** Writes an address in its canonical form: dotted for IPv4, RFC 5952 for IPv6. */
export function addressText(address: Address): string {
  if (address.length === 2) return address.map((group) => `${group >> 8}.${group & 0xff}`).join('.')
  const [start, length] = longestZeros(address)
  const hex = address.map((group) => group.toString(16))
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** The address with all bits after the first `prefix` bits cleared: the network of 10.1.2.3 and 8 is 10.0.0.0. */
export function networkOf(address: Address, prefix: number): Address {
  return address.map((group, i) => {
    const kept = Math.min(16, Math.max(0, prefix - 16 * i))
    return group & (0xffff << (16 - kept)) & 0xffff
  })
}

/**
 * The key of the client at an address. An IPv4 address is its own key. An IPv6 client is known by its network of
 * `ipv6Prefix` bits, because a client with one address of a network usually has all of them. A text that is not an
 * address is its own key.
 */
export function clientKeyOf(text: string, ipv6Prefix: number): string {
  // Without a colon it is an IPv4 address, which has one spelling, or not an address.
  if (!text.includes(':')) return text
  const address = parseAddress(text)
  if (address === undefined) return text
  if (address.length === 2 || ipv6Prefix === 128) return addressText(address)
  return `${addressText(networkOf(address, ipv6Prefix))}/${ipv6Prefix}`
}

function isMapped(groups: Address): boolean {
  return groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
}

function parseV4(text: string): Address | undefined {
  const match = V4.exec(text)
  if (match === null) return undefined
  const bytes = match.slice(1)
  if (bytes.some((byte) => Number(byte) > 255 || (byte.length > 1 && byte.startsWith('0')))) return undefined
  const [a, b, c, d] = bytes.map(Number)
  return [a * 256 + b, c * 256 + d]
}

function parseV6(text: string): Address | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [left, right] = halves.map((half, i) => groupsOf(half, i === halves.length - 1))
  if (left === undefined || (halves.length === 2 && right === undefined)) return undefined
  if (halves.length === 1) return left.length === 8 ? left : undefined
  const missing = 8 - left.length - (right as Address).length
  // `::` stands for one group of zeros or more.
  return missing < 1 ? undefined : [...left, ...new Array<number>(missing).fill(0), ...(right as Address)]
}

/** The groups on one side of a `::`. Only the last group may be a dotted IPv4 address. */
function groupsOf(text: string, mayEndDotted: boolean): Address | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const groups: number[] = []
  for (const [i, part] of parts.entries()) {
    if (HEXTET.test(part)) groups.push(Number.parseInt(part, 16))
    else {
      const dotted = mayEndDotted && i === parts.length - 1 ? parseV4(part) : undefined
      if (dotted === undefined) return undefined
      groups.push(...dotted)
    }
  }
  return groups
}

function longestZeros(groups: Address): [start: number, length: number] {
  let best: [number, number] = [0, 0]
  let start = 0
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue
    if (i - start > best[1]) best = [start, i - start]
    start = i + 1
  }
  return best
}
