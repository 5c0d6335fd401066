/**
 * Internet addresses as numbers, so that all spellings of one address are the same. An IPv4 address written as IPv6
 * (`::ffff:1.2.3.4`) is an IPv4 address. What could be read in two ways (`01.2.3.4`, `127.1`) is no address.
 */

/** Groups of 16 bits, the first one first: two of an IPv4 address, eight of an IPv6 address. */
export type Address = readonly number[]

const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/
const HEXTET = /^[\da-f]{1,4}$/i
/** `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`, and room for a zone and a port. */
const LONGEST = 128

/** The address that a text spells, with or without brackets, a port or a zone; nothing if it spells none. */
export function parseAddress(text: string): Address | undefined {
  if (text.length > LONGEST) return undefined
  const [, bracketed, before] = WITH_PORT.exec(text) ?? []
  const spelt = bracketed ?? before ?? text
  if (!spelt.includes(':')) return bracketed === undefined ? parseV4(spelt) : undefined
  const zone = spelt.indexOf('%')
  const groups = parseV6(zone < 0 ? spelt : spelt.slice(0, zone))
  return groups !== undefined && isMapped(groups) ? groups.slice(6) : groups
}

/** The one way to write an address: dotted, or as RFC 5952 has it. */
export function addressText(address: Address): string {
  if (address.length === 2) return address.map((group) => `${group >> 8}.${group & 0xff}`).join('.')
  const [start, length] = longestZeros(address)
  const hex = address.map((group) => group.toString(16))
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** The address with all bits behind the first `prefix` cleared. */
export function networkOf(address: Address, prefix: number): Address {
  return address.map((group, i) => {
    const kept = Math.min(16, Math.max(0, prefix - 16 * i))
    return group & (0xffff << (16 - kept)) & 0xffff
  })
}

/**
 * How a client is known by its address: an IPv4 address by itself, an IPv6 address by its network, because whoever has
 * one address of a network has all of them. A text that spells no address stands for itself.
 */
export function clientOf(text: string, ipv6Prefix: number): string {
  // The usual spelling of IPv4 is the only one, so there is nothing to make of it.
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

/** The groups of one side of a `::`. Only the last may be a dotted IPv4 address. */
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
