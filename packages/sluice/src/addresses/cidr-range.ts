import { invalidType, invalidValue } from '../errors.js'
import { type Address, addressText, networkOf, parseAddress } from './address.js'

/** All addresses whose first `prefix` bits equal those of `network`: `10.0.0.0/8`. A single address is a range too. */
export interface CidrRange {
  readonly network: Address
  readonly prefix: number
}

const WANTED = "an address or CIDR range such as '10.0.0.0/8', '192.0.2.1' or '2001:db8::/32'"

/** Brackets, a zone or a port. */
const MORE_THAN_AN_ADDRESS = /[[\]%]|^[\d.]+:\d+$/

/** Reads a range in CIDR notation. An error names `option` and says what would be right. */
export function parseCidrRange(option: string, value: unknown): CidrRange {
  if (typeof value !== 'string') throw invalidType(option, WANTED, value)
  const [written, bits, ...more] = value.split('/')
  const address = MORE_THAN_AN_ADDRESS.test(written) ? undefined : parseAddress(written)
  if (address === undefined || more.length > 0) throw invalidValue(option, WANTED, value)
  const most = address.length * 16
  if (bits === undefined) return { network: address, prefix: most }
  // An IPv4 address written as IPv6 has 96 more bits in front. Without this, '::ffff:10.0.0.0/8' would mean all of IPv4.
  const front = address.length === 2 && written.includes(':') ? 96 : 0
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) - front : -1
  if (prefix < 0 || prefix > most) {
    throw invalidValue(option, `a CIDR range with a prefix from /${front} to /${most + front}`, value)
  }
  const network = networkOf(address, prefix)
  if (network.some((group, i) => group !== address[i])) {
    const right = `'${addressText(network)}/${prefix}'`
    throw invalidValue(option, `a CIDR range without bits after its prefix: ${right}`, value)
  }
  return { network, prefix }
}

/** Is the address in the range? */
export function rangeContains({ network, prefix }: CidrRange, address: Address): boolean {
  return network.length === address.length && networkOf(address, prefix).every((group, i) => group === network[i])
}
