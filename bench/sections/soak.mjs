import { fixed, table } from '../markdown.mjs'
import { soak as run } from '../soak/soak.mjs'
import { withRedis } from '../with-redis.mjs'

const usual = { callers: 4, perSecond: 100, ms: 60_000 }
const LEAST = 0.95
const MOST = 1.05

/** A fleet of processes against an API that bans at the first excess. */
export const soak = {
  name: 'soak',
  title: 'Shaper over Redis: a strict API',
  onlyIfNamed: true,

  measure: () => withRedis(async (redisPort, redis) => ({ redis, ...(await run({ ...usual, redisPort })) })),

  render({ redis, ...found }) {
    const rows = [
      ['requests', fixed(found.arrivals)],
      ['time in which there was work', `${fixed(found.busyMs / 1_000, 1)} s`],
      ['requests a second in that time', fixed(found.share * found.perSecond, 2)],
      ['most requests in any second', fixed(found.mostInASecond)],
      ['requests of each process', `${fixed(found.fewestOfAProcess)} to ${fixed(found.mostOfAProcess)}`],
      ['bans', fixed(found.bans)],
      ['longest that the API itself was held up', `${fixed(found.heldUpMs)} ms`],
      ['bursts', fixed(found.bursts)],
      ['times that the queue was full', fixed(found.queueFull)],
      ['turns without Redis', fixed(found.degraded)],
    ]
    return [
      `${usual.callers} processes call an HTTP server at ${usual.perSecond}/s together, through one shaper on Redis ${redis}, for ${usual.ms / 1_000} s. Each process has bursts of`,
      'up to 50 calls and lulls of up to a second; together they want more than the rate. If the queue is full, a caller comes back',
      `when the error says. The server logs arrivals by its own clock. If more than ${usual.perSecond * MOST} arrive in any second, it bans all callers for`,
      'good. While the server itself is held up, it sees no arrivals, and then all of them at once. Redis has 1 s to answer instead',
      'of 50 ms, so that a busy machine makes no caller go on without Redis.',
      '',
      table(['', ''], rows),
    ].join('\n')
  },

  goals({ bans, mostInASecond, perSecond, share }) {
    return [
      {
        goal: `soak: never more than ${MOST}x the rate in any second, as a strict API sees it`,
        measured: `${bans} bans, at most ${mostInASecond} a second at ${perSecond}/s`,
        reached: bans === 0,
      },
      {
        goal: `soak: at least ${fixed(100 * LEAST)} % of the rate while there is work`,
        measured: `${fixed(100 * share, 1)} %`,
        reached: share >= LEAST,
      },
    ]
  },
}
