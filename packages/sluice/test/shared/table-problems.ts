import { SharedCells } from '../../src/stores/shared/cells.js'
import { sharedLayout } from '../../src/stores/shared/shared-layout.js'
import { timeOf } from '../../src/stores/shared/state-word.js'
import type { SharedStoreHandle } from '../../src/stores/shared/thread-store-options.js'

/**
 * What is wrong in the table of a store that no thread uses at the moment: keys with two entries, entries behind one that
 * was never used, insertions that name no claim, and words that lie beyond `lastUs` (microseconds since the store began).
 */
export function tableProblems({ memory, maxKeys }: SharedStoreHandle, lastUs: number): readonly string[] {
  const cells = new SharedCells(memory)
  const { table } = sharedLayout(maxKeys)
  const problems: string[] = []
  const read = (cell: number) => {
    cells.load(cell)
    return { hi: cells.hi, lo: cells.lo }
  }
  for (let group = 0; group < table.groups; group++) {
    const first = table.entries + group * table.groupSize * 2
    const tags = Array.from({ length: table.groupSize }, (_, i) => read(first + i * 2))
    const used = tags.filter(({ hi }) => hi !== 0).map(({ hi, lo }) => `${hi}:${lo >>> 16}`)
    if (new Set(used).size < used.length) problems.push(`group ${group} has a key twice`)
    for (const [i, { hi }] of tags.entries()) {
      const word = read(first + i * 2 + 1)
      if (hi === 0) continue
      if (word.hi >= 0 && timeOf(word.hi, word.lo) > lastUs)
        problems.push(`entry ${i} of group ${group} is too far ahead`)
      // A look-up of the key begins at its home, and must meet no unused entry on its way.
      for (let at = hi & (table.groupSize - 1); at !== i; at = (at + 1) & (table.groupSize - 1))
        if (tags[at].hi === 0) problems.push(`entry ${i} of group ${group} cannot be found`)
    }
    const insertion = read(table.insertions + group)
    if (insertion.hi === 0) continue
    const claim = read(first + (insertion.hi - 1) * 2 + 1)
    if (claim.hi >= 0 || ((claim.lo ^ insertion.lo) & 0x7fff) !== 0) problems.push(`group ${group} inserts nothing`)
  }
  return problems
}
