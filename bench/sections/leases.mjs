import { inChild } from '../in-child.mjs'
import { fixed, table, times } from '../markdown.mjs'
import { spread } from '../statistics.mjs'
import { withRedis } from '../with-redis.mjs'

const LEAST_OVER_REDIS = 30
const MOST_OVER_MEMORY = 2
const titles = {
  memoryNow: '`memoryStore`, `tryAcquire`',
  leasedNow: '`leasedStore`, `tryAcquireNow`',
  memoryLater: '`memoryStore`, `await tryAcquire`',
  leasedLater: '`leasedStore`, `await tryAcquire`',
  direct: '`redisStore`, `await tryAcquire`',
}

/** The cost of a decision on leased units, beside memory and Redis. */
export const leases = {
  name: 'leases',
  title: 'Leases: time of a decision for a busy key',

  measure: ({ full }) =>
    withRedis((port) => {
      const { perSecond, callsADecision } = inChild('leases', { port, ms: full ? 3_000 : 700 })
      const medians = Object.entries(perSecond).map(([name, turns]) => [name, spread(Object.values(turns)).median])
      return { ...Object.fromEntries(medians), callsADecision }
    }),

  render({ callsADecision, ...medians }) {
    const rows = Object.entries(titles).map(([name, title]) => [
      title,
      fixed(medians[name]),
      times(medians[name] / medians.direct),
    ])
    return [
      'One key, in turns of one process: decisions a second, and how many times those of Redis asked directly. 256 callers await',
      'their decisions; `tryAcquireNow`, and `tryAcquire` in memory, return them.',
      '',
      table(['', 'decisions a second', 'over Redis'], rows),
      '',
      `Calls of Redis a decision, with leases: ${fixed(callsADecision, 6)}.`,
    ].join('\n')
  },

  goals({ memoryNow, leasedNow, direct }) {
    return [
      {
        goal: `Leases: \`tryAcquireNow\` at least ${LEAST_OVER_REDIS}x Redis at 256 callers`,
        measured: times(leasedNow / direct),
        reached: leasedNow >= LEAST_OVER_REDIS * direct,
      },
      {
        goal: `Leases: \`tryAcquireNow\` within ${MOST_OVER_MEMORY}x of the memory store`,
        measured: `${fixed(memoryNow / leasedNow, 2)}x`,
        reached: memoryNow <= MOST_OVER_MEMORY * leasedNow,
      },
    ]
  },
}
