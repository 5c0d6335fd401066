/** Internet addresses and CIDR ranges of them. */
export { type Address, addressText, clientKeyOf, networkOf, parseAddress } from './address.js'
export { type CidrRange, parseCidrRange, rangeContains } from './cidr-range.js'
