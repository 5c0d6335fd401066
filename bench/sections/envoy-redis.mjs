import { inChild } from '../in-child.mjs'
import { fixed, table } from '../markdown.mjs'
import { withRedis } from '../with-redis.mjs'

const usual = {
  connections: 4,
  streams: 16,
  keys: 100_000,
  warmUpMs: 3_000,
  burst: { ms: 1_000, turns: 9 },
  steady: { perSecond: 15_000, ms: 1_000, turns: 9 },
}
/** Seconds of the service and of Redis for 100,000 decisions. */
const MOST_CPU_S = 3.5

/** `sluice serve --grpc --store redis://…`. */
export const envoyRedis = {
  name: 'envoy-redis',
  title: 'The service: Envoy over gRPC, on Redis',

  async measure() {
    const version = await withRedis((_port, found) => found)
    return { version, ...inChild('envoyRedis', usual) }
  },

  render({ version, bursts, steady, degraded }) {
    const rows = Object.entries({ 'in bursts': bursts, [`at ${fixed(usual.steady.perSecond)}/s`]: steady }).map(
      ([name, { perSecond, cpuUs, storeCpuUs, bothCpuUs }]) => [
        name,
        fixed(perSecond.median),
        ...[cpuUs, storeCpuUs, bothCpuUs].map((each) => fixed(each.median / 10, 2)),
      ],
    )
    return [
      `The calls of the section before, with a Redis ${version} of its own behind the door (\`--http2 own --envoy-headers draft\`).`,
      `CPU is seconds for 100,000 decisions, the median of the turns. Redis decided all calls but ${fixed(degraded)}.`,
      '',
      table(['', 'decisions/s', 'CPU s, ours', 'CPU s, Redis', 'both'], rows),
    ].join('\n')
  },

  goals: ({ bursts }) => [
    {
      goal: `Envoy over gRPC on Redis: at most ${MOST_CPU_S} s of CPU of the service and Redis for 100,000 decisions`,
      measured: `${fixed(bursts.bothCpuUs.median / 10, 2)} s`,
      reached: bursts.bothCpuUs.median / 10 <= MOST_CPU_S,
    },
  ],
}
