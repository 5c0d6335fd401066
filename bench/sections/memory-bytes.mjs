import { contenders, deciders } from '../contenders.mjs'
import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'

const KEYS = 1_000_000
const GOAL = 37

/** The memory that a key takes. */
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
      'How much more memory the process holds after one call for each of 1 M keys and 1 M calls for random keys, with the',
      'garbage collected. The benchmark keeps no key string; strings that a contender keeps are part of its bytes. Resident',
      'memory includes pages that the allocator has not returned.',
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
