import type { BlockRule } from '../../limits/index.js'
import type { Fingerprint } from '../memory/key-hash.js'
import type { SharedName } from './shared-limits.js'
import type { SharedMemory } from './shared-memory.js'
import { DETAILS, detailOf, LAST_US, type StateWord, setWord, timeOf } from './state-word.js'

/**
 * The blocks of keys. A block is a word in the table of states: the time is its end. If blocks grow, a second word says
 * until when the key is known as an offender, and its detail how often it has offended.
 *
 * A thread that ends between the two words has made a block that does not count as an offence.
 */
export class SharedBlocks {
  readonly #memory: SharedMemory
  readonly #key: Fingerprint = { high: 0, low: 0 }
  readonly #word: StateWord = { hi: 0, lo: 0 }

  constructor(memory: SharedMemory) {
    this.#memory = memory
  }

  /** May any key of the name be blocked now? */
  hasBlocks({ blockCell }: SharedName, nowUs: number): boolean {
    const { cells, layout } = this.#memory
    cells.glance(layout.blocks + blockCell)
    return timeOf(cells.hi, cells.lo) > nowUs
  }

  /** How long a key is still blocked; 0 or less if it is not. */
  blockedUs(named: SharedName, key: Fingerprint, nowUs: number): number {
    return this.hasBlocks(named, nowUs) ? this.#read(named.block, key).timeUs - nowUs : 0
  }

  /** Blocks a key until then, whatever its block was. Returns false if there is no room. */
  block(named: SharedName, key: Fingerprint, nowUs: number, untilUs: number): boolean {
    const endUs = Math.min(untilUs, LAST_US)
    this.#announce(named, endUs)
    return this.#change(named.block, key, nowUs, () => endUs) !== 'full'
  }

  /** Blocks a key that exceeds, unless it is blocked already. Returns false if there is no room. */
  blockOffender(named: SharedName, key: Fingerprint, rule: BlockRule, nowUs: number): boolean {
    const known = rule.forgetUs === 0 ? undefined : this.#read(named.offence, key)
    const offences = known !== undefined && known.timeUs > nowUs ? known.detail : 0
    const untilUs = Math.min(nowUs + lengthUs(rule, offences), LAST_US)
    this.#announce(named, untilUs)
    const outcome = this.#change(named.block, key, nowUs, (endUs) => (endUs > nowUs ? undefined : untilUs))
    if (outcome === 'changed' && known !== undefined) {
      const rememberedUs = Math.min(untilUs + rule.forgetUs, LAST_US)
      this.#change(named.offence, key, nowUs, () => rememberedUs, Math.min(offences + 1, DETAILS - 1))
    }
    return outcome !== 'full'
  }

  /** Lifts a block, and forgets the offences. */
  reset(named: SharedName, key: Fingerprint): void {
    for (const kind of [named.block, named.offence]) {
      if (this.#memory.table.find(this.#keyOf(kind, key)) >= 0) this.#change(kind, key, 0, () => 0)
    }
  }

  /** Raises the end of the last block of the name: before the block itself, so that no thread overlooks it. */
  #announce({ blockCell }: SharedName, untilUs: number): void {
    const { cells, layout } = this.#memory
    const cell = layout.blocks + blockCell
    setWord(this.#word, untilUs, 0)
    for (;;) {
      cells.load(cell)
      const { hi, lo } = cells
      if (!cells.holds(cell, hi, lo)) continue
      if (timeOf(hi, lo) >= untilUs) return
      if (cells.compareExchange(cell, hi, lo, this.#word.hi, this.#word.lo)) return
    }
  }

  #keyOf(kind: Fingerprint, key: Fingerprint): Fingerprint {
    this.#key.high = kind.high ^ key.high || 1
    this.#key.low = kind.low ^ key.low
    return this.#key
  }

  /** The time and detail of a word; 0 if there is none. */
  #read(kind: Fingerprint, key: Fingerprint): { readonly timeUs: number; readonly detail: number } {
    const { cells, table } = this.#memory
    if (!table.read(this.#keyOf(kind, key))) return { timeUs: 0, detail: 0 }
    return { timeUs: timeOf(cells.hi, cells.lo), detail: detailOf(cells.lo) }
  }

  /** Replaces the time of a word by `next(time)`, unless that is `undefined`. */
  #change(
    kind: Fingerprint,
    key: Fingerprint,
    nowUs: number,
    next: (timeUs: number) => number | undefined,
    detail = 0,
  ): 'changed' | 'kept' | 'full' {
    const { cells, table } = this.#memory
    for (;;) {
      const cell = table.find(this.#keyOf(kind, key))
      if (cell < 0) {
        if (!table.insert(this.#key, nowUs)) return 'full'
        continue
      }
      cells.load(cell)
      const { hi, lo } = cells
      if (hi < 0 && !table.isOver(cell, hi, lo)) continue
      const timeUs = next(hi < 0 ? 0 : timeOf(hi, lo))
      if (timeUs === undefined) {
        if (cells.entryHolds(cell, this.#key.high, table.tagLo, hi, lo)) return 'kept'
        continue
      }
      setWord(this.#word, timeUs, detail)
      const { hi: newHi, lo: newLo } = this.#word
      if (cells.exchangeEntry(cell, this.#key.high, table.tagLo, hi, lo, newHi, newLo)) return 'changed'
    }
  }
}

/** How long the next block is after so many: as `nextBlock` computes it from one block to the next. */
function lengthUs({ firstUs, factor, mostUs }: BlockRule, offences: number): number {
  let lengthUs = firstUs
  for (let i = 0; i < offences && lengthUs < mostUs; i++) {
    lengthUs = Math.min(mostUs, Math.max(firstUs, Math.floor(lengthUs * factor)))
  }
  return lengthUs
}
