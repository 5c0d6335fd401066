import { invalidType, invalidValue } from '../errors.js'
import { type Address, addressText, networkOf, parseAddress } from './address.js'

/** All addresses that begin with the same bits: `10.0.0.0/8`. One address alone is a block too. */
export interface Block {
  readonly network: Address
  readonly prefix: number
}

const WANTED = "an address or block such as '10.0.0.0/8', '192.0.2.1' or '2001:db8::/32'"

/** Brackets, a zone or a port. */
const MORE_THAN_AN_ADDRESS = /[[\]%]|^[\d.]+:\d+$/

/** Reads a block in CIDR notation; an error names `option` and says what is wrong with it. */
export function parseBlock(option: string, value: unknown): Block {
  if (typeof value !== 'string') throw invalidType(option, WANTED, value)
  const [spelt, bits, ...more] = value.split('/')
  const address = MORE_THAN_AN_ADDRESS.test(spelt) ? undefined : parseAddress(spelt)
  if (address === undefined || more.length > 0) throw invalidValue(option, WANTED, value)
  const most = address.length * 16
  if (bits === undefined) return { network: address, prefix: most }
  // An IPv4 address that is written as IPv6 has 96 bits in front, which must not come to mean every address there is.
  const front = address.length === 2 && spelt.includes(':') ? 96 : 0
  const prefix = /^\d{1,3}$/.test(bits) ? Number(bits) - front : -1
  if (prefix < 0 || prefix > most) {
    throw invalidValue(option, `a block with a prefix from /${front} to /${most + front}`, value)
  }
  const network = networkOf(address, prefix)
  if (network.some((group, i) => group !== address[i])) {
    throw invalidValue(option, `a block without bits behind its prefix: '${addressText(network)}/${prefix}'`, value)
  }
  return { network, prefix }
}

export function contains({ network, prefix }: Block, address: Address): boolean {
  return network.length === address.length && networkOf(address, prefix).every((group, i) => group === network[i])
}
