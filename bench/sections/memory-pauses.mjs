import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { spread } from '../statistics.mjs'

const KEYS = 5_000_000
const ROUNDS = 3
const GOAL_MS = 10

const columns = {
  median: 'half of all calls',
  p99: '99 %',
  p9999: '99.99 %',
  slowestOwn: 'slowest by itself',
  slowestNoGc: 'without GC',
  slowest: 'with all',
}

/** The slowest call while the table grows. */
export const memoryPauses = {
  name: 'memory-pauses',
  title: 'Memory: the slowest call while 5 M keys come in',

  measure() {
    const limit = { capacity: 100, perHour: 1 }
    const rounds = {}
    for (let round = 1; round <= ROUNDS; round++) {
      console.error(`  round ${round} of ${ROUNDS}`)
      rounds[`round ${round}`] = inChild('pauses', { contender: 'sluice', limit, keys: KEYS })
    }
    return rounds
  },

  render(rounds) {
    const rows = Object.entries(rounds).map(([round, measured]) => [
      round,
      ...Object.keys(columns).map((column) => fixed(measured[column], measured[column] < 0.1 ? 4 : 2)),
    ])
    return [
      'Milliseconds within which this share of the calls was done. Each call is timed alone, which adds one reading of the',
      'clock. Then the slowest call: by itself, that is without garbage collection (most of it for key strings and decisions',
      'that the benchmark drops) and without waiting for a busy CPU; with that waiting; and with everything. The goal is',
      'about the slowest call by itself, in the worst round.',
      '',
      table(['', ...Object.values(columns)], rows),
    ].join('\n')
  },

  goals(rounds) {
    const { median, greatest } = spread(Object.values(rounds).map(({ slowestOwn }) => slowestOwn))
    return [
      {
        goal: `the slowest call while filling 5 M keys, garbage collection aside, under ${GOAL_MS} ms`,
        measured: `${fixed(greatest, 2)} ms (median round ${fixed(median, 2)} ms)`,
        reached: greatest < GOAL_MS,
      },
    ]
  },
}
