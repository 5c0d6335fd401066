import { contenders, deciders } from '../contenders.mjs'
import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'

const KEYS = 1_000_000
const GOAL = 40

/** What a key costs in memory. */
export const memoryBytes = {
  name: 'memory-bytes',
  title: 'Memory: bytes a key',

  measure() {
    const limit = { capacity: 100, perHour: 1 }
    const found = {}
    for (const contender of deciders) {
      console.error(`  ${contender}`)
      found[contender] = inChild('bytes', { contender, limit, keys: KEYS })
    }
    return found
  },

  render(data) {
    const rows = deciders.map((contender) => {
      const { held, resident, told } = data[contender]
      return [contenders[contender].title, fixed(held, 1), fixed(resident, 1), fixed(told, 1)]
    })
    return [
      'After 1 M keys came once each and 1 M calls went to keys at random, with the garbage collected: how much more',
      'the process holds than before. The benchmark keeps no key string; those that a contender keeps are part of what',
      'a key costs there. Resident memory also has what the allocator has not given back.',
      '',
      table(['', 'heap and buffers', 'resident', '`store.stats()`'], rows),
    ].join('\n')
  },

  goals({ sluice }) {
    return [
      {
        goal: `at most ${GOAL} bytes a key at 1 M token buckets`,
        measured: `${fixed(sluice.held, 1)} bytes`,
        reached: sluice.held <= GOAL,
      },
    ]
  },
}
