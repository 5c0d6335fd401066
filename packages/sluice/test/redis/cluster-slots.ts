import type { RedisCluster, RedisClusterNode } from '../../../../scripts/redis-cluster.mjs'

/** A slot on its way from one server to another, as an operator moves it. */
export class SlotMove {
  readonly #cluster: RedisCluster
  readonly #slot: string
  readonly #from: RedisClusterNode
  readonly #to: RedisClusterNode

  constructor(cluster: RedisCluster, slot: number, from: RedisClusterNode, to: RedisClusterNode) {
    this.#cluster = cluster
    this.#slot = String(slot)
    this.#from = from
    this.#to = to
  }

  /** From now on the old server redirects a client that asks for a key it no longer has to the new server. */
  async begin(): Promise<void> {
    await this.#to.command('CLUSTER', 'SETSLOT', this.#slot, 'IMPORTING', this.#from.id)
    await this.#from.command('CLUSTER', 'SETSLOT', this.#slot, 'MIGRATING', this.#to.id)
  }

  keys(): Promise<string[]> {
    return this.#from
      .command('CLUSTER', 'GETKEYSINSLOT', this.#slot, '1000')
      .then((text) => text.split('\n').filter((key) => key !== ''))
  }

  async carry(...keys: readonly string[]): Promise<void> {
    await this.#from.command('MIGRATE', '127.0.0.1', String(this.#to.port), '', '0', '5000', 'KEYS', ...keys)
  }

  /** Carries what is left, and lets the new server own the slot. */
  async finish(): Promise<void> {
    for (let keys = await this.keys(); keys.length > 0; keys = await this.keys()) await this.carry(...keys)
    const others = this.#cluster.nodes.filter((node) => node !== this.#from && node !== this.#to)
    for (const node of [this.#to, this.#from, ...others]) {
      await node.command('CLUSTER', 'SETSLOT', this.#slot, 'NODE', this.#to.id)
    }
  }
}

/** The server that owns a slot while none has been moved. */
export function ownerOf({ nodes }: RedisCluster, slot: number): number {
  return Math.min(nodes.length - 1, Math.floor((slot * nodes.length) / 16_384))
}
