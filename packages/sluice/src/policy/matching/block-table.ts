import { type Address, type Block, networkOf } from '../../addresses/index.js'

/** Many blocks of addresses at once: one look-up for each length of prefix in use. */
export class BlockTable<T> {
  readonly #lengths: { readonly groups: number; readonly prefix: number; readonly networks: Map<string, T[]> }[] = []

  add({ network, prefix }: Block, item: T): void {
    let length = this.#lengths.find((each) => each.groups === network.length && each.prefix === prefix)
    if (length === undefined) {
      length = { groups: network.length, prefix, networks: new Map() }
      this.#lengths.push(length)
    }
    const items = length.networks.get(network.join())
    if (items === undefined) length.networks.set(network.join(), [item])
    else items.push(item)
  }

  /** Does any block contain the address? */
  has(address: Address): boolean {
    let isFound = false
    this.find(address, () => {
      isFound = true
    })
    return isFound
  }

  /** Tells of everything whose block contains the address, once a block. */
  find(address: Address, found: (item: T) => void): void {
    for (const { groups, prefix, networks } of this.#lengths) {
      const items = groups === address.length ? networks.get(networkOf(address, prefix).join()) : undefined
      for (const item of items ?? []) found(item)
    }
  }
}
