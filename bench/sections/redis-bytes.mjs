import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { redisContenders } from '../redis-contenders.mjs'
import { withRedis } from '../with-redis.mjs'

const KEYS = 100_000
/** Refills so slowly that no key is gone before it is counted. */
const GOAL = 150
const LIMIT = { capacity: 1_000, perHour: 60 }

/** Without the contenders that only send their calls in another way: they store the same. */
const { 'sluice-node-redis': _, 'rate-limiter-flexible-pipelined': __, ...kept } = redisContenders

/** The memory that a key takes in Redis. */
export const redisBytes = {
  name: 'redis-bytes',
  title: 'Redis: bytes a key',

  measure: () =>
    withRedis((port) => Object.fromEntries(Object.keys(kept).map((each) => [each, measureOne(each, port)]))),

  render(data) {
    const rows = Object.entries(data).map(([contender, { held, one, oneAfterHundred }]) => [
      kept[contender].title,
      fixed(held, 1),
      fixed(one),
      fixed(oneAfterHundred),
    ])
    return [
      'How much more memory Redis uses (`used_memory`, tables included) after one call for each of 100,000 keys such as',
      '`user:12345`, divided by the keys; and `MEMORY USAGE` of one key after 1 call and after 100. Every library keeps its',
      "default key prefix; the article's script and `INCR` have no prefix, and the keys of `INCR` never expire.",
      '',
      table(['', 'bytes a key', 'one key', 'after 100 calls'], rows),
    ].join('\n')
  },

  goals: ({ sluice }) => [
    {
      goal: `Redis: at most ${GOAL} bytes a key`,
      measured: `${fixed(sluice.held, 1)} bytes`,
      reached: sluice.held <= GOAL,
    },
  ],
}

function measureOne(contender, port) {
  console.error(`  ${contender}`)
  return inChild('redisBytes', { contender, port, limit: LIMIT, keys: KEYS })
}
