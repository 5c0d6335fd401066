/** Internet addresses and blocks of them. */
export { type Address, addressText, clientOf, networkOf, parseAddress } from './address.js'
export { type Block, contains, parseBlock } from './block.js'
