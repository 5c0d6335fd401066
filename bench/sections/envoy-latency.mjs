import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'

const usual = {
  connections: 4,
  streams: 16,
  keys: 100_000,
  warmUpMs: 1_000,
  ms: 300,
  turns: 9,
  memoryPerSecond: 50_000,
  redisPerSecond: 15_000,
}
const MOST_P99_MS = 2
const MOST_REDIS_P999_MS = 20

const ROWS = {
  fast: ['the embedded store', usual.memoryPerSecond],
  slow: ['the embedded store', usual.redisPerSecond],
  redis: ['Redis', usual.redisPerSecond],
}

/** Latencies of `sluice serve --grpc`, for which the machine must be quiet. */
export const envoyLatency = {
  name: 'envoy-latency',
  title: 'The service: latencies of Envoy over gRPC',

  measure() {
    return inChild('envoyLatency', usual)
  },

  render({ isRealTime, ...found }) {
    const rows = Object.entries(ROWS).map(([name, [store, rate]]) => {
      const { perSecond, cpuUs, p50, p99, p999, waitedMs } = found[name]
      return [
        store,
        fixed(rate),
        fixed(perSecond.median),
        fixed(cpuUs.median / 10, 2),
        ...[p50, p99, p999].map(quantile),
        fixed(waitedMs.median, 1),
      ]
    })
    return [
      'The door with its default options. Calls leave one by one at a constant rate, over 4 connections. A latency counts from the time at which the',
      `call should have left. Milliseconds: the median of ${usual.turns} turns of ${usual.ms / 1_000} s, with the least and the greatest in brackets. CPU is seconds of the service for`,
      '100,000 decisions. The last column says how many milliseconds of a turn the client waited for a processor, because other programs had it.',
      ...(isRealTime
        ? [
            '',
            'The client, the service and Redis ran under `chrt -r 1`, so other programs on this machine had to wait for them.',
          ]
        : []),
      '',
      table(['store', 'calls/s', 'answers/s', 'CPU s', 'p50', 'p99', 'p99.9', 'client waited'], rows),
    ].join('\n')
  },

  goals: ({ fast, redis }) => [
    {
      goal: `Envoy over gRPC: p99 under ${MOST_P99_MS} ms at a steady ${fixed(usual.memoryPerSecond)}/s`,
      measured: `${fixed(fast.p99.median, 2)} ms`,
      reached: fast.p99.median < MOST_P99_MS,
    },
    {
      goal: `Envoy over gRPC on Redis: p99.9 under ${MOST_REDIS_P999_MS} ms at ${fixed(usual.redisPerSecond)}/s`,
      measured: `${fixed(redis.p999.median, 2)} ms`,
      reached: redis.p999.median < MOST_REDIS_P999_MS,
    },
  ],
}

function quantile({ median, least, greatest }) {
  return `${fixed(median, 2)} (${fixed(least, 2)} to ${fixed(greatest, 2)})`
}
