import { type Address, type CidrRange, networkOf } from '../../addresses/index.js'

/** Items by CIDR range. Finding those of an address takes one look-up for each prefix length in use. */
export class CidrTable<T> {
  readonly #lengths: { readonly groups: number; readonly prefix: number; readonly networks: Map<string, T[]> }[] = []

  add({ network, prefix }: CidrRange, item: T): void {
    let length = this.#lengths.find((each) => each.groups === network.length && each.prefix === prefix)
    if (length === undefined) {
      length = { groups: network.length, prefix, networks: new Map() }
      this.#lengths.push(length)
    }
    const items = length.networks.get(network.join())
    if (items === undefined) length.networks.set(network.join(), [item])
    else items.push(item)
  }

  /** Does any range contain the address? */
  has(address: Address): boolean {
    let isFound = false
    this.find(address, () => {
      isFound = true
    })
    return isFound
  }

  /** Calls `found` with each item whose range contains the address. An item that was added twice may come twice. */
  find(address: Address, found: (item: T) => void): void {
    for (const { groups, prefix, networks } of this.#lengths) {
      const items = groups === address.length ? networks.get(networkOf(address, prefix).join()) : undefined
      for (const item of items ?? []) found(item)
    }
  }
}
