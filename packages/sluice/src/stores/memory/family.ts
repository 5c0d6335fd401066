import { type Arithmetic, arithmeticOf, fullerView, type Limit, mixed, type Taken } from '../../limits/index.js'
import type { RingStorage } from './ring-storage.js'
import { Space } from './space.js'
import type { Sweeper } from './sweeper.js'
import { type Census, Table, type TableOwner } from './table.js'

/** A key has a state that a limit with other numbers left, and there is no room for a view of its own. */
export const NO_ROOM = Symbol('no room')

/** Where a limit's states are, and how it counts in them. */
interface Use {
  readonly space: Space
  readonly arithmetic: Arithmetic
}

/**
 * All that a store keeps under one name: a space for each kind of state that was used with it (nearly always one), and
 * the keys that are blocked.
 */
export class Family {
  readonly #rings: RingStorage
  readonly #census: Census
  readonly #sweeper: Sweeper
  readonly #tables: Table[] = []
  /** The spaces of each algorithm. */
  readonly #peers = new Map<string, Space[]>()
  /** Is there an algorithm of which keys may have several views? */
  hasViews = false
  /** What a limit comes to, by the limit. */
  #uses = new WeakMap<Limit, Use>()
  #blocks: Table | undefined
  /** The limit that was asked for last, and what it comes to. */
  limit: Limit | undefined
  space!: Space
  arithmetic!: Arithmetic

  constructor(rings: RingStorage, census: Census, sweeper: Sweeper) {
    this.#rings = rings
    this.#census = census
    this.#sweeper = sweeper
  }

  /** Makes `space` and `arithmetic` those of a limit. */
  use(limit: Limit): void {
    const arithmetic = arithmeticOf(limit)
    const { space, arithmetic: own } = this.#uses.get(arithmetic.limit) ?? this.#useOfNew(arithmetic)
    this.space = space
    this.arithmetic = own
    this.limit = limit
  }

  /**
   * Opens a key's state, wherever a limit with other numbers may have left it, and says in which space. A state that
   * serves all moves from where only one limit used it. Of others a view of its own is made, a copy of the one that knows
   * most, if there `isRoom` for it; without one the key must not begin anew.
   */
  find(
    space: Space,
    arithmetic: Arithmetic,
    high: number,
    low: number,
    nowUs: number,
    isRoom: boolean,
  ): Space | undefined | typeof NO_ROOM {
    const peers = this.#peersOf(space)
    if (peers.length === 1 || arithmetic.portable) {
      if (space.find(high, low)) return space
      if (peers.length === 1) return undefined
    }
    if (arithmetic.portable) return this.#findPortable(space, arithmetic, high, low, nowUs)
    // All views of a key are whole at once, and then there is none.
    if (peers.every((peer) => peer.isKeyWhole(high, low, nowUs))) {
      for (const peer of peers) peer.table.remove(high, low)
      return undefined
    }
    if (space.find(high, low)) return space
    if (!isRoom) return NO_ROOM
    const others = peers.filter((peer) => peer !== space && peer.find(high, low))
    const fullest = others.reduce((one, other) => (fullerView(one.judge, other.judge) === one.judge ? one : other))
    return space.copy(fullest, arithmetic, high, low, nowUs) ? space : NO_ROOM
  }

  #findPortable(space: Space, arithmetic: Arithmetic, high: number, low: number, nowUs: number): Space | undefined {
    const [first] = this.#peersOf(space)
    if (first.table.count === 0 || !first.find(high, low)) return undefined
    if (first.isOpenedWhole(nowUs)) {
      first.table.remove(high, low)
      return undefined
    }
    space.adopt(first, arithmetic, high, low, nowUs)
    return space
  }

  /** What was taken from one view of a key is taken from the others too. */
  takeElsewhere(space: Space, high: number, low: number, nowUs: number, cost: number, quota: number): void {
    for (const peer of this.#peersOf(space)) if (peer !== space) peer.takeToo(high, low, nowUs, cost, quota)
  }

  refundElsewhere(
    space: Space,
    high: number,
    low: number,
    nowUs: number,
    units: number,
    taken: Taken | undefined,
  ): void {
    for (const peer of this.#peersOf(space)) if (peer !== space) peer.refundToo(high, low, nowUs, units, taken)
  }

  /** How many words more the other views of a key need to hold `cost` more, taken by a limit of such a quota. */
  extraWordsElsewhere(space: Space, high: number, low: number, nowUs: number, cost: number, quota: number): number {
    return this.#peersOf(space).reduce(
      (words, peer) => words + (peer === space ? 0 : peer.extraWordsToo(high, low, nowUs, cost, quota)),
      0,
    )
  }

  /** Nothing but states that are found where they are looked for: no key is blocked, and none has several views. */
  get isSimple(): boolean {
    return !this.hasViews && !this.hasBlocks
  }

  get hasBlocks(): boolean {
    return this.#blocks !== undefined && this.#blocks.count > 0
  }

  /** How long a key is still blocked; 0 or less when it is not. */
  blockedUs(high: number, low: number, nowUs: number): number {
    if (this.#blocks === undefined) return 0
    const segment = this.#blocks.segment(high)
    const state = segment.find(high, low)
    return state < 0 ? 0 : segment.words[state] - nowUs
  }

  /** Blocks a key, if it is blocked already or there `isRoom` for one more. */
  block(high: number, low: number, nowUs: number, untilUs: number, isRoom: () => boolean): boolean {
    if (this.#blocks === undefined) {
      this.#blocks = new Table(1, blockOwner, this.#census)
      this.#addTable(this.#blocks)
    }
    let state = this.#blocks.segment(high).find(high, low)
    if (state < 0) {
      if (!isRoom()) return false
      state = this.#blocks.add(high, low, nowUs)
    }
    this.#blocks.segment(high).words[state] = untilUs
    return true
  }

  forget(high: number, low: number): void {
    for (const table of this.#tables) table.remove(high, low)
  }

  #useOfNew(arithmetic: Arithmetic): Use {
    const use = arithmetic.portable ? this.#portableUse(arithmetic) : this.#viewUse(arithmetic)
    use.space.admit(use.arithmetic)
    this.#uses.set(arithmetic.limit, use)
    return use
  }

  /**
   * The first limit has states of its own. As soon as there is another, all use states that say who has taken from them,
   * of which there is one space however many limits there are; those of the first one move there as they are met.
   */
  #portableUse(arithmetic: Arithmetic): Use {
    const [first, second] = this.#peers.get(arithmetic.limit.algorithm) ?? []
    if (first === undefined) return { space: this.#newSpace(arithmetic), arithmetic }
    if (second === undefined && JSON.stringify(first.judge.limit) === JSON.stringify(arithmetic.limit))
      return { space: first, arithmetic }
    if (second === undefined) this.#uses = new WeakMap()
    const shared = mixed(arithmetic)
    return { space: second ?? this.#newSpace(shared), arithmetic: shared }
  }

  #viewUse(arithmetic: Arithmetic): Use {
    const peers = this.#peers.get(arithmetic.limit.algorithm) ?? []
    const same = peers.find(({ shape }) => shape === arithmetic.shape)
    if (same === undefined && peers.length > 0) this.hasViews = true
    return { space: same ?? this.#newSpace(arithmetic), arithmetic }
  }

  #newSpace(arithmetic: Arithmetic): Space {
    const { algorithm } = arithmetic.limit
    const peers = this.#peers.get(algorithm) ?? []
    this.#peers.set(algorithm, peers)
    const space = new Space(arithmetic, this.#rings, this.#census, this.#sweeper, peers)
    peers.push(space)
    this.#addTable(space.table)
    return space
  }

  #addTable(table: Table): void {
    this.#tables.push(table)
    this.#sweeper.tables.push(table)
  }

  #peersOf({ algorithm }: Space): readonly Space[] {
    return this.#peers.get(algorithm) ?? []
  }
}

/** A block's state is the time of its end. */
const blockOwner: TableOwner = {
  isWhole: (words, at, nowUs) => words[at] <= nowUs,
  forget: () => {},
}
