import { type Arithmetic, arithmeticOf, type Limit } from '../../limits/index.js'
import type { RingStorage } from './ring-storage.js'
import { Space } from './space.js'
import type { Sweeper } from './sweeper.js'
import { type Census, Table, type TableOwner } from './table.js'

/**
 * All that a store keeps under one name: a space for each shape of limit that was used with it (nearly always one), and
 * the keys that are blocked.
 */
export class Family {
  readonly #rings: RingStorage
  readonly #census: Census
  readonly #sweeper: Sweeper
  readonly #tables: Table[] = []
  readonly #spaces: Space[] = []
  readonly #spaceOfLimit = new WeakMap<Limit, Space>()
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
    this.arithmetic = arithmeticOf(limit)
    this.space = this.#spaceOfLimit.get(this.arithmetic.limit) ?? this.#spaceForNew(this.arithmetic)
    this.limit = limit
  }

  /** Opens a key's state, wherever a limit with other numbers may have left it. */
  find(space: Space, arithmetic: Arithmetic, high: number, low: number, nowUs: number): boolean {
    return (
      space.find(high, low) || (this.#spaces.length > 1 && this.#findElsewhere(space, arithmetic, high, low, nowUs))
    )
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

  #spaceForNew(arithmetic: Arithmetic): Space {
    let space = this.#spaces.find(({ shape }) => shape === arithmetic.shape)
    if (space === undefined) {
      space = new Space(arithmetic, this.#rings, this.#census, this.#sweeper)
      this.#spaces.push(space)
      this.#addTable(space.table)
    }
    space.admit(arithmetic)
    this.#spaceOfLimit.set(arithmetic.limit, space)
    return space
  }

  #addTable(table: Table): void {
    this.#tables.push(table)
    this.#sweeper.tables.push(table)
  }

  #findElsewhere(space: Space, arithmetic: Arithmetic, high: number, low: number, nowUs: number): boolean {
    for (const other of this.#spaces) {
      if (other === space || other.algorithm !== space.algorithm || !other.find(high, low)) continue
      if (other.isOpenedWhole(nowUs)) other.table.remove(high, low)
      else {
        space.adopt(other, arithmetic, high, low, nowUs)
        return true
      }
    }
    return false
  }
}

/** A block's state is the time of its end. */
const blockOwner: TableOwner = {
  isWhole: (words, at, nowUs) => words[at] <= nowUs,
  forget: () => {},
}
