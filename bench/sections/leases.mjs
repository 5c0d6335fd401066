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
      const { turns, callsADecision } = inChild('leases', { port, ms: full ? 3_000 : 700 })
      const medianOf = (name, read) => spread(Object.keys(turns[name]).map((turn) => read(turn))).median
      const rows = Object.keys(titles).map((name) => [
        name,
        {
          perSecond: medianOf(name, (turn) => turns[name][turn].perSecond),
          cpuNs: medianOf(name, (turn) => turns[name][turn].cpuNs),
          // Of pairs of turns, so that a slow second of the machine meets both.
          overRedis: medianOf(name, (turn) => turns[name][turn].perSecond / turns.direct[turn].perSecond),
          cpuOfMemory: medianOf(name, (turn) => turns[name][turn].cpuNs / turns.memoryNow[turn].cpuNs),
        },
      ])
      return { ...Object.fromEntries(rows), callsADecision }
    }),

  render({ callsADecision, ...found }) {
    const rows = Object.entries(titles).map(([name, title]) => [
      title,
      fixed(found[name].perSecond),
      times(found[name].overRedis),
      fixed(found[name].cpuNs),
    ])
    return [
      'One key, in turns of one process: decisions a second, how many times those of Redis asked directly, and CPU time of the',
      'process a decision in nanoseconds, without that of the Redis server. 256 callers await their decisions; `tryAcquireNow`, and',
      '`tryAcquire` in memory, return them. Redis needs a CPU of its own: other work on the machine makes it look slower than it is.',
      '',
      table(['', 'decisions a second', 'over Redis', 'CPU ns'], rows),
      '',
      `Calls of Redis a decision, with leases: ${fixed(callsADecision, 6)}.`,
    ].join('\n')
  },

  goals({ leasedNow }) {
    return [
      {
        goal: `Leases: \`tryAcquireNow\` at least ${LEAST_OVER_REDIS}x Redis at 256 callers`,
        measured: times(leasedNow.overRedis),
        reached: leasedNow.overRedis >= LEAST_OVER_REDIS,
      },
      {
        goal: `Leases: CPU time of \`tryAcquireNow\` within ${MOST_OVER_MEMORY}x of the memory store`,
        measured: `${fixed(leasedNow.cpuOfMemory, 2)}x`,
        reached: leasedNow.cpuOfMemory <= MOST_OVER_MEMORY,
      },
    ]
  },
}
