import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { redisContenders } from '../redis-contenders.mjs'
import { withRedis } from '../with-redis.mjs'

const KEYS = 100_000
/** Refilled so slowly that no key is forgotten before it is counted. */
const LIMIT = { capacity: 1_000, perHour: 60 }

/** Those that only ask in another way keep the same. */
const { 'sluice-node-redis': _, 'rate-limiter-flexible-pipelined': __, ...kept } = redisContenders

/** What a key costs in Redis. */
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
      'How much more memory Redis uses (`used_memory`) after 100,000 keys such as `user:12345` came once each, tables',
      'included, a key; and what `MEMORY USAGE` says of one of them after a call and after a hundred. All keep the',
      "prefixes that they begin keys with unless told otherwise; the article's script and `INCR` have none, and what",
      '`INCR` counts never expires.',
      '',
      table(['', 'bytes a key', 'one key', 'after 100 calls'], rows),
    ].join('\n')
  },

  goals: () => [],
}

function measureOne(contender, port) {
  console.error(`  ${contender}`)
  return inChild('redisBytes', { contender, port, limit: LIMIT, keys: KEYS })
}
