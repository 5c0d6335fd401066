import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { redisContenders } from '../redis-contenders.mjs'
import { spread } from '../statistics.mjs'
import { withRedis } from '../with-redis.mjs'

const PROCESSES = 3
const MOST = 1.05
const contenders = ['sluice', 'article']
const limit = { capacity: 1_000, perHour: 60 }

/** The latency of a single caller. */
export const redisLatency = {
  name: 'redis-latency',
  title: 'Redis: one caller, in turns',

  measure: () =>
    withRedis((port) => {
      const rounds = {}
      for (let round = 1; round <= PROCESSES; round++) {
        console.error(`  process ${round} of ${PROCESSES}`)
        rounds[`process ${round}`] = medians(inChild('redisLatency', { contenders, port, limit }))
      }
      return rounds
    }),

  render(rounds) {
    const head = ['', ...contenders.map((contender) => redisContenders[contender].title), 'ratio']
    const rows = Object.entries(rounds).map(([round, { ratio, ...own }]) => [
      round,
      ...contenders.map((contender) => fixed(own[contender], 0)),
      `${fixed(ratio, 2)}x`,
    ])
    return [
      'Median latency of one caller, in microseconds. In each process the two take turns of 500 calls; the ratio is the',
      'median of thirty pairs of turns. The table of one caller above measures each in its own process, where luck with',
      'memory and CPUs weighs more than the difference between the two.',
      '',
      table(head, rows),
    ].join('\n')
  },

  goals(rounds) {
    const { median, least, greatest } = spread(Object.values(rounds).map(({ ratio }) => ratio))
    return [
      {
        goal: `Redis: within ${MOST}x of the article's script at one caller, in turns`,
        measured: `${fixed(median, 2)}x (processes ${fixed(least, 2)}x to ${fixed(greatest, 2)}x)`,
        reached: median <= MOST,
      },
    ]
  },
}

function medians(found) {
  const median = (turns) => spread(Object.values(turns)).median
  const ratios = Object.keys(found.sluice).map((turn) => found.sluice[turn] / found.article[turn])
  return { sluice: median(found.sluice), article: median(found.article), ratio: spread(ratios).median }
}
