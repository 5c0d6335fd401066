import { inChild } from '../in-child.mjs'
import { fixed, keysTitle, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'

const SIZES = [100_000, 1_000_000]
const ROUNDS = 5
const CASES = {
  memory: { title: 'memory store, one thread', store: 'memory', workers: 1 },
  one: { title: 'shared store, one thread', store: 'shared', workers: 1 },
  two: { title: 'shared store, two threads', store: 'shared', workers: 2 },
}

/** Worker threads on one table. */
export const threads = {
  name: 'threads',
  title: 'Worker threads: decisions a second on one table',

  measure() {
    const found = {}
    for (const keys of SIZES) {
      const rounds = []
      for (let round = 1; round <= ROUNDS; round++) {
        console.error(`  ${keysTitle(keys)}, round ${round} of ${ROUNDS}`)
        const rates = Object.entries(CASES).map(([name, { store, workers }]) => [
          name,
          inChild('threads', { store, keys, workers }).perSecond,
        ])
        rounds.push(Object.fromEntries(rates))
      }
      found[keys] = {
        ...Object.fromEntries(Object.keys(CASES).map((name) => [name, spread(rounds.map((each) => each[name]))])),
        oneToMemory: spread(rounds.map(({ one, memory }) => one / memory)),
        twoToOne: spread(rounds.map(({ one, two }) => two / one)),
      }
    }
    return found
  },

  render(data) {
    const sizes = Object.keys(data)
    const rows = Object.entries(CASES).map(([name, { title }]) => [
      title,
      ...sizes.map((keys) => fixed(data[keys][name].median)),
    ])
    return [
      'Decisions a second of all threads together, for random keys that are known, key string included. The median of five',
      'rounds; each round measures all three rows, each in its own process. Time in which a thread waited for a busy CPU is',
      'not counted.',
      '',
      table(['', ...sizes.map((keys) => keysTitle(Number(keys)))], rows),
    ].join('\n')
  },

  goals(data) {
    return Object.entries(data).flatMap(([keys, { oneToMemory, twoToOne }]) => [
      goal(`threads, ${keysTitle(Number(keys))}: one thread at least 0.7x the memory store`, oneToMemory, 0.7),
      goal(`threads, ${keysTitle(Number(keys))}: two threads at least 1.6x one`, twoToOne, 1.6),
    ])
  },
}

function goal(text, { median, least, greatest }, wanted) {
  const measured = `${fixed(median, 2)}x (rounds ${fixed(least, 2)}x to ${fixed(greatest, 2)}x)`
  return { goal: text, measured, reached: median >= wanted }
}
