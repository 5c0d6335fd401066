import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'

const CONNECTIONS = 64
const BATCH = 100
const usual = { connections: CONNECTIONS, warmUpMs: 2_000, turnMs: 200, turns: 25, latencyMs: 20_000 }
const onRedis = { connections: CONNECTIONS, warmUpMs: 2_000, peakMs: 3_000, latencyMs: 9_000 }
const LEAST_SHARE = 0.8
const LEAST_IN_BATCHES = 250_000
/** envoyproxy/ratelimit took 7.0 s of CPU for 100,000 decisions on Redis: be ahead by twice. */
const MOST_CPU_S = 3.5
const MOST_P99_MS = 5
const MOST_P999_MS = 20

/** `sluice serve` beside a bare server of node:http. */
export const service = {
  name: 'service',
  title: 'The service: decisions over HTTP',

  measure({ full }) {
    const longer = full ? 3 : 1
    console.error('  on its embedded store')
    const memory = inChild('serviceSpeed', { ...usual, turns: longer * usual.turns })
    console.error('  on Redis')
    return { memory, redis: inChild('serviceRedis', { ...onRedis, latencyMs: longer * onRedis.latencyMs }) }
  },

  render({ memory, redis }) {
    const { bare, check, batch, latency, bareLatency } = memory
    const rate = (title, { perSecond, share, cpuUs }, decisions = 1) => [
      title,
      fixed(perSecond.median * decisions),
      decisions === 1 ? `${fixed(share.median, 2)}x (${fixed(share.least, 2)} to ${fixed(share.greatest, 2)})` : '',
      fixed(cpuUs.median / 10 / decisions, 2),
    ]
    const delay = (title, { p50, p99, p999, errors }, perSecond) => [
      title,
      fixed(perSecond),
      ...[p50, p99, p999].map((ms) => fixed(ms, 2)),
      fixed(errors),
    ]
    return [
      `${CONNECTIONS} connections ask \`/v1/check\` on four levels, each again as soon as it has its answer of ${fixed(memory.answerBytes)} bytes. The bare server`,
      'parses the same JSON and answers a constant of the same size. Each server has its own process, and they take short turns',
      'against one client. A share compares the two in the same turn: the median, with the spread in brackets. CPU is seconds of',
      'the server process for 100,000 decisions.',
      '',
      table(
        ['', 'decisions/s', 'of bare', 'CPU s'],
        [
          rate('bare `node:http`', bare),
          rate('`/v1/check`', check),
          rate(`\`/v1/check/batch\`, ${BATCH} at a time`, batch, BATCH),
          ['`/v1/check` on Redis', fixed(redis.peak), '', fixed(redis.cpuUs / 10, 2)],
        ],
      ),
      '',
      'For comparison, other services with a JSON check, measured on two cores of the same kind with as many connections, in November',
      '2026: envoyproxy/ratelimit on Redis 19,000/s at 7.0 s (and 1.2 s of Redis), gubernator in memory 12,800/s at 12.8 s,',
      'limitador in memory 67,000/s at 1.7 s.',
      '',
      'Latency at half of the greatest rate, in milliseconds. It counts from the time at which a request should have left. The',
      'first two rows take turns, five each, and show the median of their rounds. In the outage Redis is killed after a third of',
      'the time and started again after two thirds; decisions are then made by the rule `open`.',
      '',
      table(
        ['', 'requests/s', 'p50', 'p99', 'p99.9', 'errors'],
        [
          delay('bare `node:http`', bareLatency, bareLatency.perSecond),
          delay('embedded store', latency, latency.perSecond),
          delay('Redis', redis.calm, redis.perSecond),
          delay('Redis, with an outage', redis.outage, redis.perSecond),
        ],
      ),
    ].join('\n')
  },

  goals({ memory, redis }) {
    const inBatches = memory.batch.perSecond.median * BATCH
    const ms = (number) => `${fixed(number, 2)} ms`
    const delay = (title, most, measured, errors) => ({
      goal: `service: ${title} below ${most} ms at half of the greatest rate`,
      measured: `${ms(measured)}, ${fixed(errors)} errors`,
      reached: measured < most && errors === 0,
    })
    return [
      {
        goal: `service: \`/v1/check\` on four levels at least ${LEAST_SHARE}x of bare \`node:http\``,
        measured: `${fixed(memory.check.share.median, 2)}x`,
        reached: memory.check.share.median >= LEAST_SHARE,
      },
      {
        goal: `service: at least ${fixed(LEAST_IN_BATCHES)} decisions/s in batches of ${BATCH}`,
        measured: fixed(inBatches),
        reached: inBatches >= LEAST_IN_BATCHES,
      },
      {
        goal: `service: on Redis at most ${MOST_CPU_S} s of CPU for 100,000 decisions`,
        measured: `${fixed(redis.cpuUs / 10, 2)} s`,
        reached: redis.cpuUs / 10 <= MOST_CPU_S,
      },
      delay('p99', MOST_P99_MS, memory.latency.p99, memory.latency.errors),
      delay('p99.9 on Redis', MOST_P999_MS, redis.calm.p999, redis.calm.errors),
      delay('p99.9 on Redis during an outage', MOST_P999_MS, redis.outage.p999, redis.outage.errors),
    ]
  },
}
